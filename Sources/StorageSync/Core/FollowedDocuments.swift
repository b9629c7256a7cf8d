internal import StorageRecords

/// The documents that pages cover.
package struct FollowedDocuments: Sendable, Equatable {
    /// The only followed document; nil if all documents are followed.
    package let document: String?
    /// Whether more pages will arrive.
    package var isListening: Bool

    package init(document: String? = nil, isListening: Bool = true) {
        self.document = document
        self.isListening = isListening
    }

    /// Whether the pages up to a position contain everything about a document.
    func covers(_ id: DocumentID) -> Bool { document.map { ExactText($0) == ExactText(id.id) } ?? true }

    /// Whether future pages will report the changes of a document.
    func includes(_ id: DocumentID) -> Bool { isListening && covers(id) }
}
