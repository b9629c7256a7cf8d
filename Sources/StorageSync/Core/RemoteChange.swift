/// One event of a remote's log.
package struct RemoteChange: Sendable, Equatable {
    package let position: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// Under which this client sent it; nil for those of others.
    package let ownNumber: Int64?

    package init(position: Int64, document: DocumentID, operation: WriteOperation, ownNumber: Int64?) {
        self.position = position
        self.document = document
        self.operation = operation
        self.ownNumber = ownNumber
    }
}
