import StorageKit

/// The answer of `bisect`: the commit that changed the result.
///
/// - ``CommitRecord``
/// - `before`, `after`: The result before the commit and since.
/// - `steps`: The number of points that were tested.
struct BisectRecord: JSONRecord {
    let commit: AnnotatedCommit
    let before: Bool
    let steps: Int

    func write(to json: inout JSONWriter) throws {
        try CommitRecord(commit: commit).write(to: &json)
        json.member("before", before)
        json.member("after", !before)
        json.member("steps", steps)
    }
}
