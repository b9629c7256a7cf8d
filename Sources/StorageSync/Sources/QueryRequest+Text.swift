internal import StorageCore
internal import StorageEntities
internal import StorageKit

extension QueryRequest {
    /// The query as SQL, and its bound values: the same in each run of the program.
    var text: (sql: String, values: String) {
        let shape = EntityTableCache.of(E.Record.self).queryTable
        // A query that can't be expressed in SQL fails with an explanation when it is read.
        guard let text = try? QuerySQL(rows, of: shape).select(limit: rows.limit) else {
            return (shape.name, "\(rows)")
        }
        return (text.sql, text.values.isEmpty ? "" : text.values.map { "\($0)" }.joined(separator: ", "))
    }
}
