/// A part of a remote's history.
package struct SyncPage: Sendable, Equatable {
    /// Behind this position it begins.
    package let start: Int64
    /// Up to here nothing else concerns this client.
    package let end: Int64
    package let changes: [RemoteChange]
    /// Whether it has all documents that there are at its end, or are changed behind it: others are gone.
    package let isComplete: Bool

    package init(start: Int64, end: Int64, changes: [RemoteChange], isComplete: Bool = false) {
        self.start = start
        self.end = end
        self.changes = changes
        self.isComplete = isComplete
    }

    /// Whether its changes stand by position, between its start and its end.
    var isInOrder: Bool {
        var last = start
        for change in changes {
            guard change.position > last else { return false }
            last = change.position
        }
        return last <= end
    }
}
