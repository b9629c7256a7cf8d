import StorageKit

/// Who made a commit and why: part of each line about one.
///
/// - `actor`: The person or service; null where the commit names none.
/// - `app`: The program, where it is named.
/// - `reason`: Why, in words. Lines about commits have null where there is none, lines about events leave it out.
/// - `correlation`: What ties the commit to a request elsewhere, where there is such.
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
