package import StorageRouting

/// How much work it was to keep views up to date. Per change, none of it grows with the number of subscriptions that
/// aren't concerned, nor with the size of tables.
package struct EngineCounters: Sendable, Hashable {
    /// States of the store that were looked at.
    package internal(set) var steps = 0
    /// How long that took: from before the store is looked at until updates are delivered.
    package internal(set) var duration = Duration.zero
    /// Transactions that touched entities with views, but concerned none of them, so that nobody looked.
    package internal(set) var skipped = 0
    /// Nodes that applied changes.
    package internal(set) var wakeups = 0
    /// Nodes that were reloaded, their first time not counted.
    package internal(set) var reloads = 0
    /// Statements that nodes ran.
    package internal(set) var statements = 0
    /// Rows that were read to learn what an event doesn't say.
    package internal(set) var rowReads = 0
    package internal(set) var router = RouterCounters()
}
