import ArgumentParser

/// Where `grep` searches.
enum SearchScope: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Values as they were before a change, and as they were after it.
    case old, new
    /// Metadata of commits: actor, app, reason, correlation, key, attributes.
    case meta
}
