/// A write as a producer sends it.
package struct HubWrite: Sendable, Equatable {
    /// Identifies it among the writes of its producer: the position of an event in the log of the store that made it,
    /// the last one if several were merged.
    package let origin: Int64
    package let document: DocumentID
    package let operation: WriteOperation
    /// The hub's position that the writer had pulled.
    package let base: Int64
    /// Whether the write is rejected if another producer has changed the document after ``base``.
    package let isConditional: Bool

    package init(
        origin: Int64, document: DocumentID, operation: WriteOperation, base: Int64, isConditional: Bool = false
    ) {
        self.origin = origin
        self.document = document
        self.operation = operation
        self.base = base
        self.isConditional = isConditional
    }
}

/// Permanently identifies a store that writes to a hub.
package struct ProducerID: Hashable, Sendable {
    package let value: String

    package init(_ value: String) { self.value = value }
}
