/// A range of a remote's history.
package struct SyncPage: Sendable, Equatable {
    /// The position after which the page begins.
    package let start: Int64
    /// The position up to which nothing else affects this client. If it equals the start, the changes are documents
    /// that were requested by id, as of some later position.
    package let end: Int64
    package let changes: [RemoteChange]
    package let part: Part
    /// The documents of the remote that can't be written as JSON, and so aren't among the changes, with the reasons.
    package let unreadable: [DocumentID: String]

    /// How a page relates to the full set of documents at the remote.
    package enum Part: Sendable, Equatable {
        case some
        /// The first of the pages that together list all documents: documents that these pages don't list are gone.
        case first
        /// The last of those pages.
        case last
        /// The only one of them.
        case only
    }

    package init(
        start: Int64, end: Int64, changes: [RemoteChange], part: Part = .some, unreadable: [DocumentID: String] = [:]
    ) {
        self.start = start
        self.end = end
        self.changes = changes
        self.part = part
        self.unreadable = unreadable
    }

    /// Whether the page contains nothing.
    var isEmpty: Bool { start == end && changes.isEmpty && unreadable.isEmpty }

    /// Whether the changes are sorted by position, between the start and the end.
    var isInOrder: Bool {
        // Documents that were requested by id have no order.
        guard end != start else { return true }
        var last = start
        for change in changes {
            guard change.position > last else { return false }
            last = change.position
        }
        return last <= end
    }
}
