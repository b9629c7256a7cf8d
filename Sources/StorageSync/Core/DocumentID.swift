internal import StorageRecords

/// Which row of which entity a write concerns.
///
/// Equal to one of the same bytes only, as keys of rows are: Swift takes the two spellings of é for one.
package struct DocumentID: Hashable, Sendable {
    package let entity: String
    package let id: String

    package init(entity: String, id: String) {
        self.entity = entity
        self.id = id
    }

    package static func == (left: DocumentID, right: DocumentID) -> Bool {
        ExactText(left.id) == ExactText(right.id) && ExactText(left.entity) == ExactText(right.entity)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(entity))
        hasher.combine(ExactText(id))
    }
}
