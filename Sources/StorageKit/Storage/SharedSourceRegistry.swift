/// The query sources of an open store that somebody shows, for all containers of it: however many there are, a source is asked once.
///
/// Isolation: the main actor.
@MainActor package final class SharedSourceRegistry {
    /// What keeps a source fresh, for as long as somebody shows it.
    package var refreshers: [AnyHashable: WeakReference] = [:]
    /// The sources that remotes have refused since the store was opened, each with the credentials that it was asked with.
    package var refusals: [AnyHashable: Int] = [:]
    /// Counts how often the credentials have changed.
    package var credentials = 0

    nonisolated init() {}
}

/// An object that others keep alive.
package struct WeakReference {
    package weak var object: AnyObject?

    package init(_ object: AnyObject) { self.object = object }
}
