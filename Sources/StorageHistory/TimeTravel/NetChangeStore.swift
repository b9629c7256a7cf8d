internal import StorageCore
internal import StorageLog

/// Net changes by row, in memory while they are few and in a temporary database when they are many.
///
/// Not `Sendable`: one thread at a time may use it.
final class NetChangeStore {
    /// About how much memory changes may take before they go to the database.
    static let memoryLimit = 16 << 20

    private let scratch: ScratchTables
    private let tables: [DifferenceTable]
    private let limit: Int
    private var changes: [TableKey: NetRow] = [:]
    private var byteCount = 0
    /// Tables of the database that were made.
    private var stored: Set<Int> = []

    /// A row of a pair of tables, which may be of two entities.
    private struct TableKey: Hashable {
        let table: Int
        let key: [UInt8]
    }

    init(_ tables: [DifferenceTable], memoryLimit: Int = NetChangeStore.memoryLimit) throws {
        self.tables = tables
        limit = memoryLimit
        scratch = try ScratchTables()
    }

    /// Adds what came next for a row.
    ///
    /// - Parameter key: The row's key as ``KeyCoding`` writes it; SQLite's columns alone can't tell 1 from 1.0.
    func add(_ change: NetRow, key: [UInt8], table: Int) throws {
        let address = TableKey(table: table, key: key)
        if let earlier = changes[address] {
            let sum = earlier.followed(by: change)
            byteCount += sum.byteCount - earlier.byteCount
            changes[address] = sum
        } else {
            byteCount += change.byteCount + key.count
            changes[address] = change
        }
        if byteCount > limit { try flush() }
    }

    /// Moves what is in memory to the database.
    func flush() throws {
        guard !changes.isEmpty else { return }
        try PreparedStatement(scratch.database, "BEGIN").execute()
        let byTable = Dictionary(grouping: changes) { $0.key.table }
        for (table, rows) in byTable.sorted(by: { $0.key < $1.key }) { try write(rows, to: table) }
        try PreparedStatement(scratch.database, "COMMIT").execute()
        changes.removeAll()
        byteCount = 0
    }

    private func write(_ rows: [(key: TableKey, value: NetRow)], to table: Int) throws {
        let keys = tables[table].key.indices.map { "k\($0)" }
        let isFirst = stored.insert(table).inserted
        if isFirst {
            try PreparedStatement(
                scratch.database,
                "CREATE TABLE net\(table)(code BLOB PRIMARY KEY, \(keys.joined(separator: ", ")), change BLOB)"
            ).execute()
        }
        let select = try PreparedStatement(scratch.database, "SELECT change FROM net\(table) WHERE code = ?1")
        let placeholders = keys.indices.map { "?\($0 + 3)" }.joined(separator: ", ")
        let insert = try PreparedStatement(
            scratch.database,
            """
            INSERT INTO net\(table)(code, change, \(keys.joined(separator: ", "))) VALUES (?1, ?2, \(placeholders))
            ON CONFLICT(code) DO UPDATE SET change = excluded.change
            """)
        for (address, change) in rows.sorted(by: { $0.key.key.lexicographicallyPrecedes($1.key.key) }) {
            var change = change
            if !isFirst {
                select.bind(blob: address.key, at: 1)
                if try select.step() { change = try NetRow(bytes: select.bytes(0)).followed(by: change) }
                select.reset()
            }
            insert.bind(blob: address.key, at: 1)
            insert.bind(blob: change.bytes, at: 2)
            for (index, value) in try KeyCoding.decode(address.key).enumerated() {
                value.bind(to: insert, at: Int32(index + 3))
            }
            try insert.execute()
        }
    }

    /// The changed rows of a table in the order of their keys, those after a key where one is given; nil where there
    /// are none.
    func rows(of table: Int, after key: [ExactValue]? = nil) throws -> PreparedStatement? {
        guard stored.contains(table) else { return nil }
        let names = tables[table].key.indices.map { "k\($0)" }.joined(separator: ", ")
        let placeholders = (key ?? []).indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let condition = key == nil ? "" : " WHERE (\(names)) > (\(placeholders))"
        let select = try PreparedStatement(
            scratch.database, "SELECT change, \(names) FROM net\(table)\(condition) ORDER BY \(names), code")
        for (index, value) in (key ?? []).enumerated() { value.bind(to: select, at: Int32(index + 1)) }
        return select
    }
}
