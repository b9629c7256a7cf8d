import StorageKit

/// Who made a commit and why: part of each line about one.
///
/// - `actor`: The person or service; null if the commit names none.
/// - `app`: The program, if it is named.
/// - `reason`: The reason, as text. Without one, lines about commits have null, and lines about events omit the key.
/// - `correlation`: The id that links the commit to a request elsewhere, if it has one.
struct AuthorRecord: JSONRecord {
    let metadata: CommitMetadata
    let alwaysHasReason: Bool

    func write(to json: inout JSONWriter) {
        json.member("actor", metadata.actor)
        if let app = metadata.app { json.member("app", app) }
        if alwaysHasReason || metadata.reason != nil { json.member("reason", metadata.reason) }
        if let correlation = metadata.correlation { json.member("correlation", correlation) }
    }
}
