/// One event of a remote's log.
package struct RemoteChange: Sendable, Equatable {
    package let position: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The origin of this store's own writes that made it; nil for those of others.
    package let ownOrigin: Int64?
    /// Of one of this store's own writes: where somebody else has changed the document last before it, which has no change of its own
    /// then; nil where nobody has.
    package let otherPosition: Int64?
    /// Whether it tells nothing that this store doesn't know: remotes that number nothing tell it its own writes like those of others.
    package let isEcho: Bool

    package init(
        position: Int64, document: DocumentID, operation: WriteOperation, ownOrigin: Int64?,
        otherPosition: Int64? = nil, isEcho: Bool = false
    ) {
        self.position = position
        self.document = document
        self.operation = operation
        self.ownOrigin = ownOrigin
        self.otherPosition = otherPosition
        self.isEcho = isEcho
    }

    /// Whether somebody else has changed the document.
    package var isForeign: Bool { ownOrigin == nil && !isEcho }

    /// Where somebody else has changed the document last; nil where nobody has.
    package var foreignPosition: Int64? { isForeign ? position : otherPosition }
}
