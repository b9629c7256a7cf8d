/// How much work routing was. None of it grows with the number of subscriptions.
package struct RouterCounters: Sendable, Hashable {
    /// Changes of entities with subscriptions.
    package internal(set) var changes = 0
    /// Conditions that an index held for possible.
    package internal(set) var candidates = 0
    /// How often a condition was evaluated on a row.
    package internal(set) var evaluations = 0
    /// Subscriptions that were woken by a change.
    package internal(set) var woken = 0
    /// Changes that woke every subscription of their entity, because nothing could be said of them.
    package internal(set) var fallbacks = 0

    package init() {}
}
