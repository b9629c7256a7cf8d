internal import StorageCore
internal import StorageEntities
internal import StorageKit

extension QueryRequest {
    /// The query as SQL, and the values that it is bound to: the same in each run of the program.
    var text: (sql: String, values: String) {
        let shape = EntityTables.of(E.Record.self).queryTable
        // A query that can't be written as SQL fails where it is read, with what is wrong.
        guard let text = try? QuerySQL(rows, of: shape).select(limit: rows.limit) else {
            return (shape.name, "\(rows)")
        }
        return (text.sql, text.values.isEmpty ? "" : text.values.map { "\($0)" }.joined(separator: ", "))
    }
}
