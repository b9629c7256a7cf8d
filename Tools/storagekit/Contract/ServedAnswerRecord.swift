import StorageCore

/// The answer of a tool of `mcp`: rows or an object of the contract, and the state that they were read from.
///
/// - `position`, `commit`, `time`: The newest event of the state that was read, and its commit; null if there is none.
/// - `points`: The positions of the named points, if any were named.
/// - `document`: The object, for tools that answer with one.
/// - `rows`: The rows, for tools that answer with rows.
/// - `truncated`: Whether there are more.
/// - `cursor`: The cursor to continue from there.
/// - `next`: What to request instead.
/// - `notes`: Messages of the command besides its answer.
/// - `command`: The command that a person runs to apply the plan.
struct ServedAnswerRecord: JSONRecord {
    let position: Int?
    let commit: Int?
    let time: String?
    let points: [(name: String, position: Int)]
    var document: String?
    var rows: [String]?
    var isTruncated = false
    var cursor: String?
    var next: String?
    var notes: String?
    var command: String?

    func write(to json: inout JSONWriter) {
        json.member("position", position.map(Int64.init))
        json.member("commit", commit.map(Int64.init))
        json.member("time", time)
        if !points.isEmpty {
            json.key("points")
            json.beginObject()
            for point in points { json.member(point.name, point.position) }
            json.endObject()
        }
        if let document {
            json.key("document")
            json.raw(document)
        }
        if let rows {
            json.key("rows")
            json.beginArray()
            for row in rows { json.raw(row) }
            json.endArray()
            json.member("truncated", isTruncated)
        }
        if let cursor { json.member("cursor", cursor) }
        if let next { json.member("next", next) }
        if let notes { json.member("notes", notes) }
        if let command { json.member("command", command) }
    }
}
