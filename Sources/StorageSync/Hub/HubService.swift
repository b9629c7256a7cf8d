/// A remote service that represents a collection of a hub: an engine uses the hub's protocol instead of single
/// documents.
package protocol HubService: Sendable {
    var hub: any SyncHub { get }
    /// The collection's name there.
    var hubCollection: String { get }
    /// A document, with the position of its last change.
    ///
    /// - Throws: ``RemoteError/notFound`` if there is none.
    func hubDocument(_ id: String) async throws -> HubDocument
}
