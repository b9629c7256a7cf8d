internal import CSQLite
internal import StorageHistory
internal import StorageLog

/// Cuts a range of the log into the slices that projections in a scratch database apply.
struct CommitFeed {
    let reader: LogReader
    let wants: (UInt32) -> Bool
    /// Whether each slice ends with a commit or before it; otherwise slices are as large as they may be.
    var endsWithCommits = true
    private static let limit = 1_000

    init(_ reader: LogReader, endsWithCommits: Bool = true, wants: @escaping (UInt32) -> Bool) {
        self.reader = reader
        self.wants = wants
        self.endsWithCommits = endsWithCommits
    }

    /// Calls `body` with each slice of a range. Commits without wanted events are skipped.
    ///
    /// - Parameter body: Called with the slice and the commit that ends with it; nil if the commit continues, or if
    ///   commits don't matter.
    func run(_ positions: ClosedRange<Int64>, _ body: (EventSlice, CommitInfo?) throws -> Void) throws {
        var events: [RowEvent] = []
        var start = positions.lowerBound
        func flush(through last: Int64, _ commit: CommitInfo?) throws {
            guard !events.isEmpty else { return }
            let slice = EventSlice(events, at: start...last)
            events = []
            start = last + 1
            try body(slice, commit)
        }
        try reader.forEachBatch(in: positions, where: { $0.entities.contains(where: wants) }) { batch in
            let commits = batch.commits
            for (offset, part) in commits.enumerated() {
                for index in part.events {
                    let position = batch.header.first + Int64(index)
                    guard positions.contains(position) else { continue }
                    let event = batch.withView { view in
                        wants(view.shape(of: index).entity)
                            ? RowEvent(view, at: index, position: position, commit: part.info) : nil
                    }
                    guard let event else { continue }
                    if events.count >= Self.limit {
                        // Another event follows, so the commit may continue.
                        let ends = events[events.count - 1].commit.number != part.info.number
                        try flush(through: position - 1, ends ? events[events.count - 1].commit : nil)
                    }
                    events.append(event)
                }
                let goesOn = offset == commits.count - 1 && batch.endsInsideCommit
                guard endsWithCommits, !goesOn, !events.isEmpty else { continue }
                let last = min(batch.header.first + Int64(part.events.upperBound) - 1, positions.upperBound)
                try flush(through: last, part.info)
            }
            return true
        }
        let last = events.last
        try flush(through: positions.upperBound, last?.commit)
    }
}
