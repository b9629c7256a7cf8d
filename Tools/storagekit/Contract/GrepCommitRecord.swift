import StorageKit

/// A line of `grep --in meta`: a commit with matching metadata.
///
/// - ``CommitRecord``
/// - `matches`: The matching fields, an object each.
struct GrepCommitRecord: JSONRecord {
    let commit: AnnotatedCommit
    let fields: [String]

    func write(to json: inout JSONWriter) throws {
        try CommitRecord(commit: commit).write(to: &json)
        try json.member("matches", fields.map(Field.init))
    }

    /// - `field`: `actor`, `app`, `reason`, `correlation`, `key` or `attribute`.
    struct Field: JSONRecord {
        let name: String

        func write(to json: inout JSONWriter) { json.member("field", name) }
    }
}
