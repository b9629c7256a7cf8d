import StorageKit

/// A line of `schema`: a table.
///
/// - `table`: Its name.
/// - `stored`: Its name in SQL.
/// - `columns`: A ``ColumnRecord`` each.
/// - `full_text`: Its full-text index, if it has one.
/// - `projections`: The names of the program's projections that read it, if there are any.
struct TableRecord: JSONRecord {
    let entity: CatalogEntity
    let fullText: FullText?
    let projections: [String]

    func write(to json: inout JSONWriter) throws {
        json.member("table", entity.name)
        json.member("stored", entity.stored)
        try json.member("columns", entity.live.map { ColumnRecord(column: $0, entity: entity) })
        if let fullText { try json.member("full_text", fullText) }
        if !projections.isEmpty { json.member("projections", projections) }
    }

    /// - `columns`: The names of the indexed columns.
    /// - `tokenizer`: FTS5's tokenizer with its arguments.
    /// - `prefixes`: The lengths of indexed prefixes.
    struct FullText: JSONRecord {
        let columns: [String]
        let tokenizer: String
        let prefixes: [Int]

        func write(to json: inout JSONWriter) {
            json.member("columns", columns)
            json.member("tokenizer", tokenizer)
            json.key("prefixes")
            json.beginArray()
            for length in prefixes { json.integer(Int64(length)) }
            json.endArray()
        }
    }
}
