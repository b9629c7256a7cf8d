internal import CSQLite
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// The keys of the rows that a refresh has fetched, and of those that it is going to delete.
///
/// They are kept in a temporary SQLite file, which is created only if they take more memory than ``cacheBytes``, and
/// deleted with this object.
///
/// Isolation: `Sendable`; the file is guarded by a lock.
///
/// - Complexity: O(log *n*) for each key, in the number of keys.
final class FetchedKeys: Sendable {
    /// How much of the file is kept in memory.
    static let cacheBytes = 1 << 20
    private static let batchCount = 1_000

    private let file: Mutex<File>

    init() throws { file = Mutex(try File()) }

    /// Adds the keys of fetched rows. Duplicates are ignored.
    func insert(_ keys: some Sequence<StorageValue>) throws {
        try file.withLock { file in
            for key in keys { try file.run(file.insert, KeyCoding.encodeNumerically([key])) }
        }
    }

    /// The memory use of the file, in bytes.
    var usedBytes: Int { file.withLock { $0.usedBytes } }
}

// MARK: Missing rows

extension FetchedKeys {
    /// Looks for rows that weren't fetched.
    ///
    /// - Parameters:
    ///   - isCut: Whether the answer excludes rows that sort after the last fetched one.
    ///   - skips: Whether it excludes those that sort before the first one.
    ///   - walk: Visits the keys of all rows, in order.
    func findMissing(
        isCut: Bool, skips: Bool, _ walk: ((StorageValue) throws -> Void) throws -> Void
    ) throws {
        // It may run again if the commit does.
        try file.withLock { try $0.clearMissing() }
        var hasBegun = !skips
        var count: Int64 = 0
        // The number of missing rows before the last fetched one.
        var certain: Int64 = 0
        try walk { key in
            let key = KeyCoding.encodeNumerically([key])
            try file.withLock { file in
                if try file.contains(key) {
                    hasBegun = true
                    certain = count
                } else if hasBegun {
                    count += 1
                    try file.run(file.insertMissing, key)
                }
            }
        }
        if isCut { try file.withLock { try $0.dropMissing(behind: certain) } }
    }

    /// Visits the keys that ``findMissing(isCut:skips:_:)`` has found, in its order.
    func forEachMissing(_ body: (StorageValue) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let keys = try file.withLock { try $0.missing(behind: last, limit: Self.batchCount) }
            guard let end = keys.last?.number else { return }
            for key in keys {
                if let value = try KeyCoding.decode(key.bytes).first { try body(value.value) }
            }
            last = end
        }
    }
}

// MARK: The file

/// Not `Sendable`: used by one thread at a time.
private final class File {
    private let database: Connection
    let insert: PreparedStatement
    let insertMissing: PreparedStatement
    private let find: PreparedStatement
    private let select: PreparedStatement

    init() throws {
        // A database without a name is a file that SQLite deletes when it is closed.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        database = try Connection(opening: "", flags: flags, orFailWith: "a temporary file can't be made")
        do {
            for sql in [
                "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF",
                "PRAGMA cache_size = -\(FetchedKeys.cacheBytes >> 10)",
                "CREATE TABLE fetched(key BLOB PRIMARY KEY) WITHOUT ROWID",
                "CREATE TABLE missing(number INTEGER PRIMARY KEY, key BLOB NOT NULL)",
            ] {
                try PreparedStatement(database, sql).execute()
            }
            insert = try PreparedStatement(database, "INSERT OR IGNORE INTO fetched VALUES (?)")
            insertMissing = try PreparedStatement(database, "INSERT INTO missing(key) VALUES (?)")
            find = try PreparedStatement(database, "SELECT 1 FROM fetched WHERE key = ?")
            select = try PreparedStatement(
                database, "SELECT number, key FROM missing WHERE number > ? ORDER BY number LIMIT ?")
        } catch {
            database.close()
            throw error
        }
    }

    // The statements end after this; SQLite closes the file with the last of them.
    deinit { database.close() }

    func run(_ statement: PreparedStatement, _ key: [UInt8]) throws {
        statement.bind(blob: key, at: 1)
        try statement.execute()
    }

    func contains(_ key: [UInt8]) throws -> Bool {
        find.bind(blob: key, at: 1)
        defer { find.reset() }
        return try find.step()
    }

    func clearMissing() throws { try PreparedStatement(database, "DELETE FROM missing").execute() }

    func dropMissing(behind number: Int64) throws {
        try PreparedStatement(database, "DELETE FROM missing WHERE number > ?").run(number)
    }

    func missing(behind number: Int64, limit: Int) throws -> [(number: Int64, bytes: [UInt8])] {
        select.bind(number, at: 1)
        select.bind(Int64(limit), at: 2)
        defer { select.reset() }
        var keys: [(Int64, [UInt8])] = []
        while try select.step() { keys.append((select.integer(0), Array(select.bytes(1)))) }
        return keys
    }

    var usedBytes: Int {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(database.handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
        return Int(current)
    }
}
