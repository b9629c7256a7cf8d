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
        left.id.utf8.elementsEqual(right.id.utf8) && left.entity.utf8.elementsEqual(right.entity.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for text in [entity, id] {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            // No byte of UTF-8: where one text ends counts.
            hasher.combine(0xFF as UInt8)
        }
    }
}
