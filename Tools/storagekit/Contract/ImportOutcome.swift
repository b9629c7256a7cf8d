import StorageKit

/// The outcome of a recorded `import`.
///
/// - `complete`: Whether the whole file was read.
/// - `commits`, `inserts`, `updates`, `deletes`: Their numbers.
/// - `skipped_lines`: The number of lines of skipped commits.
/// - `resumed_after`: The number of lines that an earlier run had imported.
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
