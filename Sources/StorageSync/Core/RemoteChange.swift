/// One event of a remote's log.
package struct RemoteChange: Sendable, Equatable {
    package let position: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The origin of this store's own writes that made it; nil for those of others.
    package let ownOrigin: Int64?
    /// Whether it tells nothing that this store doesn't know: remotes that number nothing tell it its own writes like those of others.
    package let isEcho: Bool

    package init(
        position: Int64, document: DocumentID, operation: WriteOperation, ownOrigin: Int64?, isEcho: Bool = false
    ) {
        self.position = position
        self.document = document
        self.operation = operation
        self.ownOrigin = ownOrigin
        self.isEcho = isEcho
    }

    /// Whether somebody else has changed the document.
    package var isForeign: Bool { ownOrigin == nil && !isEcho }
}
