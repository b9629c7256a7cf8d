/// One event of a remote's log.
package struct RemoteChange: Sendable, Equatable {
    package let position: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The origin of this store's own write that caused the change; nil for changes by others.
    package let ownOrigin: Int64?
    /// For a change by this store's own write: the position of the last change by someone else before it, which then
    /// isn't reported as a change of its own; nil if there is none.
    package let otherPosition: Int64?
    /// Whether the change contains nothing new to this store: remotes without numbers report its own writes like those
    /// of others.
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

    /// Whether another writer has made the change.
    package var isForeign: Bool { ownOrigin == nil && !isEcho }

    /// The position at which another writer last changed the document; nil if none has.
    package var foreignPosition: Int64? { isForeign ? position : otherPosition }
}
