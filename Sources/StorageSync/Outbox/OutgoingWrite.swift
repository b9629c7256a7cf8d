/// The combined operation of the writes of one origin.
struct OutgoingWrite: Sendable {
    let document: String
    let operation: DocumentOperation
    let isConditional: Bool
    let base: Int64
    /// Identifies it among those of all stores, see ``RemoteWrite/idempotencyKey``.
    let key: String
    /// Why it can't be sent; nil if it can.
    let problem: UnsendableWrite?
}
