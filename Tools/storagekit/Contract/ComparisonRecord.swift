import StorageKit

/// The first line of `compare-replay`, or its document: the comparison of two versions of a projection.
///
/// - `equal`: Whether they are equal at every commit.
/// - `from`, `to`: The positions between which they were compared.
/// - `events`: The number of events between them.
/// - `differing_rows`: The number of rows that differ at the end.
/// - `divergence`: The first difference, or null.
/// - `only_old`, `only_new`: Tables and columns that only one of them has, which aren't compared.
/// - `rows`: In a document, the differing rows, a ``ChangeRecord`` each; as lines they follow.
struct ComparisonRecord: JSONRecord {
    let comparison: ReplayComparison
    let includesRows: Bool

    func write(to json: inout JSONWriter) throws {
        json.member("equal", comparison.isEqual)
        json.member("from", comparison.from)
        json.member("to", comparison.to)
        json.member("events", comparison.events)
        json.member("differing_rows", comparison.differingRows)
        try json.member(
            "divergence",
            comparison.divergence.map {
                Divergence(position: $0.position, commit: $0.commit?.number, isBeforeRange: $0.isBeforeRange)
            })
        json.member("only_old", comparison.onlyOld)
        json.member("only_new", comparison.onlyNew)
        if includesRows { try json.member("rows", comparison.differences.map { ChangeRecord(change: $0) }) }
    }

    /// - `position`, `commit`: The event after which they differ, and its commit.
    /// - `before_range`: Whether that is before the compared range.
    struct Divergence: JSONRecord {
        let position: Int64
        let commit: Int64?
        let isBeforeRange: Bool

        func write(to json: inout JSONWriter) {
            json.member("position", position)
            json.member("commit", commit)
            json.member("before_range", isBeforeRange)
        }
    }
}
