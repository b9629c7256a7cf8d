import StorageKit

/// Tags and notes: part of the lines about a commit or an event.
///
/// - `tags`: The names of tags that point there, if there are any.
/// - `notes`: The texts of notes, if there are any.
struct AnnotationRecord: JSONRecord {
    let tags: [StorageTag]
    let notes: [StorageNote]

    func write(to json: inout JSONWriter) {
        if !tags.isEmpty { json.member("tags", tags.map(\.name)) }
        if !notes.isEmpty { json.member("notes", notes.map(\.text)) }
    }
}
