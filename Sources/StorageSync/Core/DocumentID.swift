/// Which row of which entity a write concerns.
package struct DocumentID: Hashable, Sendable {
    package let entity: String
    package let id: String

    package init(entity: String, id: String) {
        self.entity = entity
        self.id = id
    }
}
