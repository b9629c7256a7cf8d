/// A request for a hub's history.
package struct HubPull: Sendable, Equatable {
    /// The producer whose writes are marked as its own; nil to mark none.
    package var producer: ProducerID?
    /// The id of the line that the position belongs to; nil for the hub's current one, with position 0.
    package var line: [UInt8]?
    package var position: Int64
    /// The last position that a page covers; nil for the hub's head. It doesn't limit the documents behind position 0.
    /// Such a request doesn't wait.
    package var lastPosition: Int64?
    /// The names of the entities.
    package var entities: Set<String>
    /// Restricts the request to one document.
    package var document: String?
    /// The maximum number of changes in a page.
    package var limit = 1_000
    /// How long the hub waits for a change; zero for not at all.
    package var wait: Duration = .zero

    package init(behind position: Int64, of entities: Set<String>) {
        self.position = position
        self.entities = entities
    }
}
