internal import StorageRecords

/// The row and entity that a write affects.
///
/// Two ids are equal only if their bytes are, as with row keys: `String` would treat both spellings of é as equal.
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
