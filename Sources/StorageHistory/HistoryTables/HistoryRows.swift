internal import StorageCore
internal import StorageLog

/// Rows of a table of history that have been read from the log, in a temporary file: in the order of their positions, and
/// bounded in memory by that file's cache.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class HistoryRows {
    private let table: HistoryTable
    private let database: Connection
    private let name: String
    private let insert: PreparedStatement
    private let end: PreparedStatement?
    private var indexed: Set<[Int]> = []

    /// - Parameter number: Of these rows among others of the same file.
    init(_ table: HistoryTable, in database: Connection, number: Int) throws {
        let name = "rows\(number)"
        self.table = table
        self.database = database
        self.name = name
        try PreparedStatement(database, "CREATE TABLE \(name)(\(table.definitions.joined(separator: ", ")))").execute()
        let placeholders = table.columns.map { _ in "?" }.joined(separator: ", ")
        insert = try PreparedStatement(database, "INSERT INTO \(name) VALUES (\(placeholders))")
        end = try table.column(of: .until).map { until in
            let (position, until) = (quoted(table.columns[0]), quoted(table.columns[until]))
            return try PreparedStatement(
                database, "UPDATE \(name) SET \(until) = ?2 WHERE \(position) = ?1 AND \(until) IS NULL")
        }
    }

    func add(_ values: [StorageValue]) throws { try insert.execute(values) }

    /// Notes that the version that an event made lasted until another event.
    func end(_ position: Int64, at later: Int64) throws { try end?.run(position, later) }

    func removeAll() throws { try PreparedStatement(database, "DELETE FROM \(name)").execute() }

    /// The rows that some columns allow.
    ///
    /// - Parameters:
    ///   - positions: nil for all.
    ///   - equal: Columns with their values. They are found by an index, which is made for the first such search.
    func read(
        positions: ClosedRange<Int64>? = nil, equal: [(column: Int, value: StorageValue)] = [], descending: Bool
    ) throws -> PreparedStatement {
        let columns = equal.map(\.column)
        if !columns.isEmpty, indexed.insert(columns).inserted {
            let list = columns.map { quoted(table.columns[$0]) }.joined(separator: ", ")
            try PreparedStatement(database, "CREATE INDEX \(name)_\(indexed.count) ON \(name)(\(list))").execute()
        }
        var conditions = columns.map { "\(quoted(table.columns[$0])) IS ?" }
        let position = quoted(table.columns[0])
        if positions != nil { conditions.append("\(position) BETWEEN ? AND ?") }
        let statement = try PreparedStatement(
            database,
            """
            SELECT * FROM \(name)\(conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
            ORDER BY \(position)\(descending ? " DESC" : "")
            """)
        let bounds = positions.map { [StorageValue.integer($0.lowerBound), .integer($0.upperBound)] } ?? []
        for (offset, value) in (equal.map(\.value) + bounds).enumerated() {
            try statement.writer.bind(value, at: Int32(offset + 1))
        }
        return statement
    }

    /// A search that is under way. Rows that were read for it only are given back when it ends.
    final class Reading {
        let statement: PreparedStatement
        private let end: () -> Void

        init(_ statement: PreparedStatement, end: @escaping () -> Void = {}) {
            self.statement = statement
            self.end = end
        }

        deinit {
            statement.reset()
            end()
        }
    }
}
