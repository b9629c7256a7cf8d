/// A remote service that stands for a collection of a hub: an engine speaks the hub's protocol with it, and not one document at a
/// time.
package protocol HubService: Sendable {
    var hub: any SyncHub { get }
    /// The collection's name there.
    var hubCollection: String { get }
    /// A document, with the position of its last change.
    ///
    /// - Throws: ``RemoteError/notFound`` where there is none.
    func hubDocument(_ id: String) async throws -> HubDocument
}
