/// Assembles commits from their parts, which a reader passes segment by segment, and counts their matching events.
///
/// A commit is complete as soon as its last segment was read, so that the first one is returned early, however far away the next
/// one is.
package struct CommitAssembly {
    private let index: LogIndex
    private let catalog: Catalog
    private let isDescending: Bool
    /// The commit of which more parts may follow.
    private var open: CommitTally?

    /// Whether more parts of a commit may follow.
    package var isOpen: Bool { open != nil }

    package init(_ index: LogIndex, _ catalog: Catalog, descending: Bool) {
        self.index = index
        self.catalog = catalog
        isDescending = descending
    }

    /// Adds a part of a commit, in order.
    ///
    /// - Returns: Whether to continue: false if `body` has returned false for a complete commit.
    package mutating func add(
        _ part: CommitPart, of batch: EventBatch, _ body: (CommitSummary) throws -> Bool
    ) throws -> Bool {
        if let done = open, done.info.number != part.info.number, try !finish(body) { return false }
        guard open != nil || !part.matching.isEmpty else { return true }
        var tally = try open ?? CommitTally(info: part.info, positions: index.positions(of: part, in: batch))
        batch.withView { view in
            for event in part.matching { tally.add(view.shape(of: event)) }
        }
        open = tally
        let goesOn =
            isDescending
            ? part.events.lowerBound == 0 && batch.beginsInsideCommit
            : part.events.upperBound == batch.count && batch.endsInsideCommit
        return try goesOn || finish(body)
    }

    /// Calls `body` with the open commit, after its last part.
    package mutating func finish(_ body: (CommitSummary) throws -> Bool) throws -> Bool {
        guard let done = open else { return true }
        open = nil
        return try body(done.summary(catalog))
    }
}
