package import StorageRouting

/// The work of keeping views up to date. The work per change grows neither with the number of unaffected subscriptions
/// nor with the size of tables.
package struct EngineCounters: Sendable, Hashable {
    /// States of the store that were looked at.
    package internal(set) var steps = 0
    /// The total duration of the steps: from before the state is read until updates are delivered.
    package internal(set) var duration = Duration.zero
    /// Transactions that changed entities with views but affected no view, so that no step was taken.
    package internal(set) var skipped = 0
    /// Nodes that applied changes.
    package internal(set) var wakeups = 0
    /// Nodes that were reloaded, their first time not counted.
    package internal(set) var reloads = 0
    /// Statements that nodes ran.
    package internal(set) var statements = 0
    /// Rows that were read for values that their events leave out.
    package internal(set) var rowReads = 0
    package internal(set) var router = RouterCounters()
}
