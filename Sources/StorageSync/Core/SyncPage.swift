/// A part of a remote's history.
package struct SyncPage: Sendable, Equatable {
    /// Behind this position it begins.
    package let start: Int64
    /// Up to here nothing else concerns this client. Where it is the start, the changes are documents that were asked for by their ids, as
    /// they are at some later position.
    package let end: Int64
    package let changes: [RemoteChange]
    package let part: Part

    /// What a page is to all documents that the remote has.
    package enum Part: Sendable, Equatable {
        case some
        /// The first of the pages that name all of them: documents that aren't named by these pages are gone.
        case first
        /// The last of those.
        case last
    }

    package init(start: Int64, end: Int64, changes: [RemoteChange], part: Part = .some) {
        self.start = start
        self.end = end
        self.changes = changes
        self.part = part
    }

    /// Whether it says nothing.
    var isEmpty: Bool { start == end && changes.isEmpty }

    /// Whether its changes stand by position, between its start and its end.
    var isInOrder: Bool {
        // Documents that were asked for have no order.
        guard end != start else { return true }
        var last = start
        for change in changes {
            guard change.position > last else { return false }
            last = change.position
        }
        return last <= end
    }
}
