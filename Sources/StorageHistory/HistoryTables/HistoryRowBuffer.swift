internal import StorageCore
internal import StorageLog

/// Rows of a history table that were read from the log, in a temporary file: in the order of their positions, with memory bounded
/// by that file's cache.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class HistoryRowBuffer {
    private let table: HistoryTable
    private let database: Connection
    private let name: String
    private let insert: PreparedStatement
    private let end: PreparedStatement?
    private var indexed: Set<[Int]> = []
    /// Prepared statements that are free: a join may search thousands of times.
    private var idle: [Shape: [PreparedStatement]] = [:]

    /// The columns with conditions, and the order of a search.
    private struct Shape: Hashable {
        let columns: [Int]
        let hasPositions: Bool
        let isDescending: Bool
    }

    /// - Parameter number: Distinguishes these rows from others in the same file.
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

    /// Sets the later event at which the version of an event ended.
    func end(_ position: Int64, at later: Int64) throws { try end?.run(position, later) }

    func removeAll() throws { try PreparedStatement(database, "DELETE FROM \(name)").execute() }

    /// Reads the rows that match some columns.
    ///
    /// - Parameters:
    ///   - positions: nil for all.
    ///   - equal: Columns with their values. They are found by an index, which is created for the first such search.
    ///   - end: Called when the rows aren't read any longer.
    func read(
        positions: ClosedRange<Int64>? = nil, equal: [(column: Int, value: StorageValue)] = [], descending: Bool,
        end: @escaping () -> Void = {}
    ) throws -> Reading {
        let shape = Shape(columns: equal.map(\.column), hasPositions: positions != nil, isDescending: descending)
        let statement = try idle[shape]?.popLast() ?? prepare(shape)
        let bounds = positions.map { [StorageValue.integer($0.lowerBound), .integer($0.upperBound)] } ?? []
        try statement.bind(equal.map(\.value) + bounds)
        return Reading(statement) { [self] in
            idle[shape, default: []].append(statement)
            end()
        }
    }

    private func prepare(_ shape: Shape) throws -> PreparedStatement {
        if !shape.columns.isEmpty, indexed.insert(shape.columns).inserted {
            let list = shape.columns.map { quoted(table.columns[$0]) }.joined(separator: ", ")
            try PreparedStatement(database, "CREATE INDEX \(name)_\(indexed.count) ON \(name)(\(list))").execute()
        }
        let position = quoted(table.columns[0])
        let conditions =
            shape.columns.map { "\(quoted(table.columns[$0])) IS ?" }
            + (shape.hasPositions ? ["\(position) BETWEEN ? AND ?"] : [])
        return try PreparedStatement(
            database,
            """
            SELECT * FROM \(name)\(conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
            ORDER BY \(position)\(shape.isDescending ? " DESC" : "")
            """)
    }

    /// A search in progress. Rows that were read only for it are released when it ends.
    final class Reading {
        let statement: PreparedStatement
        private let end: () -> Void

        init(_ statement: PreparedStatement, end: @escaping () -> Void) {
            self.statement = statement
            self.end = end
        }

        deinit {
            statement.reset()
            end()
        }
    }
}
