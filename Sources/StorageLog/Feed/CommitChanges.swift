/// The requested changes of one commit.
///
/// ```swift
/// for try await change in storage.changes(since: .head) {
///     print(change.commit.number, change.events.map(\.table), change.token)
/// }
/// ```
///
/// They are the whole commit, unless it has more events than a page may hold: then it comes in consecutive parts, of
/// which only the first has ``beginsCommit`` and only the last has ``endsCommit``.
public struct CommitChanges: Sendable, Hashable {
    /// The commit.
    public let commit: CommitInfo
    /// The events that match, in order; at least one.
    public let events: [StorageEvent]
    /// False if an earlier part of the commit came before, or if reading began inside the commit.
    public let beginsCommit: Bool
    /// False if more of the commit's events follow.
    public let endsCommit: Bool
    /// Where to resume after these changes.
    public let token: ChangeToken

    package init(
        commit: CommitInfo, events: [StorageEvent], beginsCommit: Bool, endsCommit: Bool, token: ChangeToken
    ) {
        self.commit = commit
        self.events = events
        self.beginsCommit = beginsCommit
        self.endsCommit = endsCommit
        self.token = token
    }

    /// Whether these are all of the commit's events that match.
    public var isWhole: Bool { beginsCommit && endsCommit }
}

/// A page of changes: commits, oldest first; one that is larger than the limit comes in parts.
///
/// ```swift
/// var page = try await storage.changes(since: .position(0), limit: 100)
/// print(page.events)
/// while page.hasMore {
///     page = try await storage.changes(since: page.next, limit: 100)
///     print(page.events)
/// }
/// ```
public struct ChangePage: Sendable {
    /// The commits of the page, as many as fit into the limit of events. A commit that alone exceeds it comes in parts,
    /// each a page.
    public let commits: [CommitChanges]
    /// Where the next page begins, also at the end of the log: later commits follow it.
    public let next: ChangeToken
    /// Whether more matching changes followed when the page was read.
    public let hasMore: Bool

    /// The events of all commits, in order.
    public var events: [StorageEvent] { commits.flatMap(\.events) }
}

extension CommitChanges: CustomStringConvertible {
    /// The commit, and a line for each of its events: `  @101 update posts/42 title: "a" → "b"`.
    public var description: String {
        (["\(commit)"] + events.map { "  @\($0.position) \($0.change)" }).joined(separator: "\n")
    }
}

extension ChangePage: CustomStringConvertible {
    /// How much the page holds: `2 commits with 3 events up to @140, more follow`.
    public var description: String {
        let events = commits.reduce(0) { $0 + $1.events.count }
        return ChangeText.number(commits.count, "commit") + " with " + ChangeText.number(events, "event")
            + " up to @\(next.position)" + (hasMore ? ", more follow" : "")
    }
}
