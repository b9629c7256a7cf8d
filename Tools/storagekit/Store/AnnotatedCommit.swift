import StorageKit

/// A commit with the tags that point into it and the notes of points in it.
struct AnnotatedCommit {
    let summary: CommitSummary
    let tags: [StorageTag]
    let notes: [StorageNote]

    var info: CommitInfo { summary.info }
    var positions: ClosedRange<Int64> { summary.positions }
    /// The counts by table, in the order of their names.
    var changes: [(table: String, counts: CommitSummary.Counts)] { summary.tables.map { ($0.table, $0.counts) } }

    init(_ summary: CommitSummary, _ reader: TagReader) throws {
        self.summary = summary
        tags = try reader.tags(in: summary.positions)
        notes = try reader.notes(in: summary.positions)
    }
}
