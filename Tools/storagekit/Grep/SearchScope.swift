import ArgumentParser

/// Where `grep` looks.
enum SearchScope: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Values as they were before a change, and as they were after it.
    case old, new
    /// What commits say of themselves: actor, app, reason, correlation, key, attributes.
    case meta
}
