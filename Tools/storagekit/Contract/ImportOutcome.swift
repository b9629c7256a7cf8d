import StorageKit

/// What a recorded `import` did.
///
/// - `complete`: Whether the whole file was read.
/// - `commits`, `inserts`, `updates`, `deletes`: How many were made.
/// - `skipped_lines`: Lines of commits that were left out.
/// - `resumed_after`: Lines that an earlier run had imported.
struct ImportOutcome: JSONRecord {
    let isComplete: Bool
    let commits: Int
    let inserts: Int
    let updates: Int
    let deletes: Int
    let skippedLines: Int
    let resumedAfter: Int

    func write(to json: inout JSONWriter) {
        json.member("complete", isComplete)
        json.member("commits", commits)
        json.member("inserts", inserts)
        json.member("updates", updates)
        json.member("deletes", deletes)
        json.member("skipped_lines", skippedLines)
        json.member("resumed_after", resumedAfter)
    }
}
