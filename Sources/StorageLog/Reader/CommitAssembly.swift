/// Puts the parts of commits together that a reader hands over row by row, each with its matching events counted.
///
/// A commit is done as soon as its last row was read, so that the first one comes early however far the next one is.
package struct CommitAssembly {
    private let index: LogIndex
    private let catalog: Catalog
    private let isDescending: Bool
    /// The commit of which more may follow.
    private var open: CommitTally?

    /// Whether a commit is open, of which parts may follow.
    package var isOpen: Bool { open != nil }

    package init(_ index: LogIndex, _ catalog: Catalog, descending: Bool) {
        self.index = index
        self.catalog = catalog
        isDescending = descending
    }

    /// Takes a part of a commit, in order.
    ///
    /// - Returns: Whether more are wanted, as `body` said of the commits that were done.
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

    /// Hands over the open commit, after which nothing follows.
    package mutating func finish(_ body: (CommitSummary) throws -> Bool) throws -> Bool {
        guard let done = open else { return true }
        open = nil
        return try body(done.summary(catalog))
    }
}
