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
    private var indexed: Set<[String]> = []
    /// Prepared statements that are free: a join may search thousands of times.
    private var idle: [Shape: [PreparedStatement]] = [:]

    /// The columns with conditions, and the order of a search.
    private struct Shape: Hashable {
        let terms: [Term]
        let hasPositions: Bool
        let isDescending: Bool
    }

    /// The search for one value of a column.
    struct Term: Hashable {
        let column: Int
        /// Whether only exactly this value is searched for; otherwise any value that SQL may call equal to it by an affinity.
        let isExact: Bool
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
    ///   - equal: Terms with their values. They are found by an index, which is created for the first such search.
    ///   - end: Called when the rows aren't read any longer.
    func read(
        positions: ClosedRange<Int64>? = nil, equal: [(term: Term, value: StorageValue)] = [], descending: Bool,
        end: @escaping () -> Void = {}
    ) throws -> Reading {
        let shape = Shape(terms: equal.map(\.term), hasPositions: positions != nil, isDescending: descending)
        let statement = try idle[shape]?.popLast() ?? prepare(shape)
        let bounds = positions.map { [StorageValue.integer($0.lowerBound), .integer($0.upperBound)] } ?? []
        try statement.bind(equal.map(\.value) + bounds)
        return Reading(statement) { [self] in
            idle[shape, default: []].append(statement)
            end()
        }
    }

    private func prepare(_ shape: Shape) throws -> PreparedStatement {
        let keys = shape.terms.map(key)
        if !keys.isEmpty, indexed.insert(keys).inserted {
            let list = keys.joined(separator: ", ")
            try PreparedStatement(database, "CREATE INDEX \(name)_\(indexed.count) ON \(name)(\(list))").execute()
        }
        let position = quoted(table.columns[0])
        let count = keys.count
        let conditions =
            zip(shape.terms, keys).enumerated().map { Self.condition($1.1, $1.0, parameter: $0 + 1) }
            + (shape.hasPositions ? ["\(position) BETWEEN ?\(count + 1) AND ?\(count + 2)"] : [])
        return try PreparedStatement(
            database,
            """
            SELECT * FROM \(name)\(conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
            ORDER BY \(position)\(shape.isDescending ? " DESC" : "")
            """)
    }

    /// What the index of a term has for each row.
    ///
    /// Values that an affinity makes equal are equal as numbers, or as texts of which the same number can be read. A real number's
    /// text may be rounded, so the number is read from its text.
    private func key(of term: Term) -> String {
        let column = quoted(table.columns[term.column])
        return term.isExact ? column : "CAST(CAST(\(column) AS TEXT) AS NUMERIC)"
    }

    private static func condition(_ key: String, _ term: Term, parameter: Int) -> String {
        guard !term.isExact else { return "\(key) IS ?\(parameter)" }
        // The number, and as its text reads.
        return
            "\(key) IN (CAST(?\(parameter) AS NUMERIC), CAST(CAST(CAST(?\(parameter) AS REAL) AS TEXT) AS NUMERIC))"
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
