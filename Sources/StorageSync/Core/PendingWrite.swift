/// A write of this store that its remote hasn't confirmed yet, or has confirmed lately: one row of the outbox.
///
/// What was written isn't in it: it is the event at ``position`` in the log of this store.
package struct PendingWrite: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// To be sent.
        case waiting
        /// Sent under a number; its outcome isn't known.
        case sending(number: Int64)
        /// Applied by the remote at a position that hasn't been pulled yet.
        case accepted(at: Int64)
        /// Refused for good. Later writes of its document wait until it is retried or discarded.
        case parked(WriteRejection)
        /// Among the rows that were pulled, as of a position of the remote. Kept for some time: a remote that is restored from
        /// a backup may need it again.
        case confirmed(at: Int64)
    }

    /// What a write does to its document: it decides whether two can be sent as one. An update of a document that is gone at the
    /// remote becomes a save when it is retried.
    package enum Kind: String, Sendable {
        /// Makes the document, or replaces it as a whole.
        case save
        /// Changes some of its fields.
        case patch
        case delete
    }

    /// Of its event in the log of this store: the order in which writes were made.
    package let position: Int64
    package let document: DocumentID
    package internal(set) var kind: Kind
    /// Of what is sent, in bytes.
    package let size: Int
    /// The position of the remote that this store had pulled when the write was made.
    package var base: Int64
    /// Whether it is to be taken only where nobody else has changed the document behind ``base``.
    package var isConditional = false
    /// How often it was sent again after it was refused, modulo 256: each time it is another write to a remote that remembers what
    /// it has answered.
    package var retries: UInt8 = 0
    package var state = State.waiting
    /// What a remote knows it by: the position of the last of the writes that are sent as one with it. Nil until it is sent for the
    /// first time; then it stays.
    package var origin: Int64?

    package init(position: Int64, document: DocumentID, kind: Kind, size: Int, base: Int64) {
        self.position = position
        self.document = document
        self.kind = kind
        self.size = size
        self.base = base
    }
}
