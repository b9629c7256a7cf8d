/// One event of a remote's log.
package struct RemoteChange: Sendable, Equatable {
    package let position: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The position in this store's own log of the write that made it; nil for those of others.
    package let ownOrigin: Int64?

    package init(position: Int64, document: DocumentID, operation: WriteOperation, ownOrigin: Int64?) {
        self.position = position
        self.document = document
        self.operation = operation
        self.ownOrigin = ownOrigin
    }
}
