/// A write as a producer sends it.
package struct HubWrite: Sendable, Equatable {
    /// Of its event in the log of the store that made it.
    package let origin: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The position of the hub that the writer had pulled.
    package let base: Int64

    package init(origin: Int64, document: DocumentID, operation: WriteOperation, base: Int64) {
        self.origin = origin
        self.document = document
        self.operation = operation
        self.base = base
    }
}

/// Names a store that writes to a hub, for ever.
package struct ProducerID: Hashable, Sendable {
    package let value: String

    package init(_ value: String) { self.value = value }
}
