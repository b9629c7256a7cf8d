import StorageKit

/// The rows of one answer by their keys, to compare another answer with. They are in a temporary table, so that memory use stays small.
final class ResultBuffer {
    enum Match {
        case equal
        case missing
        /// The row that has the same key.
        case other([StorageEvent.Field])
    }

    private let scratch: ScratchTables
    private let keyNames: [String]?
    private var fields: [StorageEvent.Field] = []
    private var keyIndices: [Int] = []
    private var insert: PreparedStatement?
    private var find: PreparedStatement?
    private var take: PreparedStatement?

    /// - Parameter keyNames: The columns of the key; the first one if nil.
    init(keyNames: [String]?) throws {
        self.keyNames = keyNames
        scratch = try ScratchTables()
    }

    func add(_ row: [StorageEvent.Field]) throws {
        if insert == nil { try prepare(row) }
        guard let insert else { return }
        for (index, field) in row.enumerated() { try insert.writer.bind(field.value, at: Int32(index + 1)) }
        try insert.execute()
    }

    /// Finds a row with the same key, and removes it.
    func take(_ row: [StorageEvent.Field]) throws -> Match {
        guard let find, let take else {
            // The first answer had no rows, but the key must still be valid.
            if keyIndices.isEmpty { keyIndices = try indices(in: row) }
            return .missing
        }
        for (index, column) in keyIndices.enumerated() { try find.writer.bind(row[column].value, at: Int32(index + 1)) }
        defer { find.reset() }
        guard try find.step() else { return .missing }
        let old = fields(of: find)
        take.bind(find.integer(0), at: 1)
        try take.execute()
        return zip(old, row).allSatisfy { $0.value == $1.value } ? .equal : .other(old)
    }

    func forEachLeft(_ body: ([StorageEvent.Field]) throws -> Void) throws {
        guard insert != nil else { return }
        let select = try PreparedStatement(scratch.database, "SELECT rowid, * FROM answer ORDER BY rowid")
        while try select.step() { try body(fields(of: select)) }
    }

    private func fields(of statement: PreparedStatement) -> [StorageEvent.Field] {
        let row = statement.row
        return fields.enumerated().map { index, field in
            StorageEvent.Field(
                column: field.column, value: row.value(at: Int32(index + 1)), type: field.type, coding: field.coding)
        }
    }

    private func prepare(_ row: [StorageEvent.Field]) throws {
        fields = row
        keyIndices = try indices(in: row)
        let columns = row.indices.map { "c\($0)" }
        let keys = keyIndices.map { "c\($0)" }
        let database = scratch.database
        try PreparedStatement(database, "CREATE TABLE answer(\(columns.joined(separator: ", ")))").execute()
        try PreparedStatement(database, "CREATE INDEX answer_key ON answer(\(keys.joined(separator: ", ")))").execute()
        let placeholders = columns.map { _ in "?" }.joined(separator: ", ")
        insert = try PreparedStatement(database, "INSERT INTO answer VALUES (\(placeholders))")
        let condition = keys.map { "\($0) IS ?" }.joined(separator: " AND ")
        find = try PreparedStatement(database, "SELECT rowid, * FROM answer WHERE \(condition) ORDER BY rowid LIMIT 1")
        take = try PreparedStatement(database, "DELETE FROM answer WHERE rowid = ?")
    }

    private func indices(in row: [StorageEvent.Field]) throws -> [Int] {
        guard let keyNames else { return [0] }
        return try keyNames.map { name in
            guard let index = row.firstIndex(where: { $0.column == name }) else {
                throw CommandError(
                    .usage, "The result has no column \"\(name)\" to compare by.",
                    why: "Its columns are \(row.map(\.column).joined(separator: ", ")).",
                    next: "Name one of them with --key.")
            }
            return index
        }
    }
}
