internal import StorageCore
internal import StorageLog

/// Net changes by row, in memory while they are few and in a temporary database when they are many.
///
/// Not `Sendable`: one thread at a time may use it.
final class NetChangeStore {
    /// The approximate memory that changes may take before they are moved to the database.
    static let memoryLimit = 16 << 20

    private let scratch: ScratchTables
    private let tables: [DifferenceTable]
    private let limit: Int
    /// Changes by table and key: a table may be of two entities.
    private var changes: [[[UInt8]: NetRow]]
    private var byteCount = 0
    /// Tables that exist in the database.
    private var stored: Set<Int> = []

    init(_ tables: [DifferenceTable], memoryLimit: Int = NetChangeStore.memoryLimit) throws {
        self.tables = tables
        limit = memoryLimit
        changes = tables.map { _ in [:] }
        scratch = try ScratchTables()
    }

    /// Adds the next change of a row.
    func add(_ change: NetRow, to table: Int) throws {
        let key = change.row.key
        if let earlier = changes[table][key] {
            let sum = earlier.followed(by: change)
            byteCount += sum.byteCount - earlier.byteCount
            changes[table][key] = sum
        } else {
            byteCount += change.byteCount
            changes[table][key] = change
        }
        if byteCount > limit { try flush() }
    }

    /// Moves the changes in memory to the database.
    func flush() throws {
        guard changes.contains(where: { !$0.isEmpty }) else { return }
        try PreparedStatement(scratch.database, "BEGIN").execute()
        for (table, rows) in changes.enumerated() where !rows.isEmpty { try write(rows, to: table) }
        try PreparedStatement(scratch.database, "COMMIT").execute()
        changes = tables.map { _ in [:] }
        byteCount = 0
    }

    private func write(_ rows: [[UInt8]: NetRow], to table: Int) throws {
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
        for (key, change) in rows.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var change = change
            if !isFirst {
                select.bind(blob: key, at: 1)
                if try select.step() { change = try NetRow(bytes: select.bytes(0), key: key).followed(by: change) }
                select.reset()
            }
            insert.bind(blob: key, at: 1)
            insert.bind(blob: change.bytes, at: 2)
            for (index, value) in change.row.values.enumerated() {
                value.bind(to: insert, at: Int32(index + 3))
            }
            try insert.execute()
        }
    }

    /// Selects the changed rows of a table in the order of their keys, those after a key if one is given, to be read by
    /// ``next(of:)``; nil if there are none.
    func rows(of table: Int, after key: [ExactValue]? = nil) throws -> PreparedStatement? {
        guard stored.contains(table) else { return nil }
        let names = tables[table].key.indices.map { "k\($0)" }.joined(separator: ", ")
        let placeholders = (key ?? []).indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let condition = key == nil ? "" : " WHERE (\(names)) > (\(placeholders))"
        let select = try PreparedStatement(
            scratch.database, "SELECT change, code FROM net\(table)\(condition) ORDER BY \(names), code")
        for (index, value) in (key ?? []).enumerated() { value.bind(to: select, at: Int32(index + 1)) }
        return select
    }

    /// Returns the next row of a selection; nil at its end.
    static func next(of rows: PreparedStatement) throws -> NetRow? {
        guard try rows.step() else { return nil }
        return try NetRow(bytes: rows.bytes(0), key: Array(rows.bytes(1)))
    }
}
