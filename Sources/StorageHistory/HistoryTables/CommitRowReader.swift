internal import StorageCore
internal import StorageLog

/// Reads commits into the rows of the table of commits.
///
/// Not `Sendable`: it belongs to its connection's thread.
struct CommitRowReader {
    let rows: HistoryRowBuffer
    let log: LogReader

    /// A commit may be in several segments.
    private struct Commit {
        let info: CommitInfo
        let first: Int64
        var last: Int64

        var row: [StorageValue] {
            let metadata = info.metadata
            func text(_ value: String?) -> StorageValue { value.map(StorageValue.text) ?? .null }
            return [
                .integer(info.number), .integer(first), .integer(last),
                .text(HistoryTableInstaller.time(info.time)), text(metadata.actor), text(metadata.app),
                text(metadata.reason), text(metadata.correlation), .integer(last - first + 1),
            ]
        }
    }

    /// Adds the commits that match a query, whose positions are those of whole commits.
    func add(_ query: LogQuery) throws {
        var current: Commit?
        try log.forEachBatch(in: query.positions) { batch in
            for part in batch.commits where query.wants(part.info) {
                let first = batch.header.first + Int64(part.events.lowerBound)
                guard query.positions.contains(first) else { continue }
                let last = first + Int64(part.events.count) - 1
                if current?.info.number == part.info.number {
                    current?.last = last
                } else {
                    if let current { try rows.add(current.row) }
                    current = Commit(info: part.info, first: first, last: last)
                }
            }
            return true
        }
        if let current { try rows.add(current.row) }
    }
}
