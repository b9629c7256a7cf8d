/// What is asked of a hub's history.
package struct HubPull: Sendable, Equatable {
    /// Whose writes are marked as such; nil where nobody's are.
    package var producer: ProducerID?
    /// The id of the line that the position belongs to; nil for the hub's present one, with position 0.
    package var line: [UInt8]?
    package var position: Int64
    /// Entities by name.
    package var entities: Set<String>
    /// One document of them only.
    package var document: String?
    /// The most changes of a page.
    package var limit = 1_000
    /// How long the hub waits for a change; zero for not at all.
    package var wait: Duration = .zero

    package init(behind position: Int64, of entities: Set<String>) {
        self.position = position
        self.entities = entities
    }
}
