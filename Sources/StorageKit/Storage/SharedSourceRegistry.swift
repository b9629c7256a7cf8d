/// The query sources of an open store that are shown, shared by all of its containers, so that each source is requested once.
///
/// Isolation: the main actor.
@MainActor package final class SharedSourceRegistry {
    /// The objects that keep sources fresh, each alive as long as its source is shown.
    package var refreshers: [AnyHashable: WeakReference] = [:]
    /// The sources that remotes have refused since the store was opened, each with the number of the credentials it was requested with.
    package var refusals: [AnyHashable: Int] = [:]
    /// The number of changes of the credentials.
    package var credentials = 0

    nonisolated init() {}
}

/// A weak reference to an object that others keep alive.
package struct WeakReference {
    package weak var object: AnyObject?

    package init(_ object: AnyObject) { self.object = object }
}
