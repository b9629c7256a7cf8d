internal import StorageRecords

/// The documents that pages are of.
package struct FollowedDocuments: Sendable, Equatable {
    /// The only one; nil where they are of all.
    package let document: String?
    /// Whether pages go on to come.
    package var isListening: Bool

    package init(document: String? = nil, isListening: Bool = true) {
        self.document = document
        self.isListening = isListening
    }

    /// Whether the pages up to a position have everything of a document.
    func cover(_ id: DocumentID) -> Bool { document.map { ExactText($0) == ExactText(id.id) } ?? true }

    /// Whether pages will tell what happens to a document.
    func contain(_ id: DocumentID) -> Bool { isListening && cover(id) }
}
