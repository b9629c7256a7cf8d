/// A write of this store that its remote hasn't confirmed yet, or has confirmed recently: one row of the outbox.
///
/// The written values aren't part of it: they are in the event at ``position`` of this store's log.
package struct PendingWrite: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        /// Ready to be sent.
        case waiting
        /// Sent under a number; its outcome isn't known.
        case sending(number: Int64)
        /// Applied by the remote at a position that hasn't been pulled yet.
        case accepted(at: Int64)
        /// Rejected permanently. Later writes of its document wait until it is retried or discarded.
        case parked(WriteRejection)
        /// Included in what was pulled, at a position of the remote. Kept for a while, because a remote that is
        /// restored from a backup may need it again.
        case confirmed(at: Int64)
    }

    /// What a write does to its document, which decides whether two writes can be sent as one. When an update is
    /// retried and its document is gone at the remote, it becomes a save.
    package enum Kind: String, Sendable {
        /// Creates the document, or replaces it.
        case save
        /// Changes some fields.
        case patch
        case delete
    }

    /// The position of the event in this store's log, which orders the writes.
    package let position: Int64
    package let document: DocumentID
    package internal(set) var kind: Kind
    /// The size of what is sent, in bytes.
    package let size: Int
    /// The remote's position that this store had pulled when the write was made.
    package var base: Int64
    /// Whether the remote accepts the write only if no other writer has changed the document after ``base``.
    package var isConditional = false
    /// How often the write was sent again after a rejection, modulo 256. Each time it is a new write to a remote that
    /// remembers its answers.
    package var retries: UInt8 = 0
    package var state = State.waiting
    /// The name by which a remote knows the write: the position of the last write that is sent with it as one. Nil
    /// until it is numbered. If it turns out that it can't be sent, it gets another one; constant once a remote may have
    /// seen it.
    package var origin: Int64?

    package init(position: Int64, document: DocumentID, kind: Kind, size: Int, base: Int64) {
        self.position = position
        self.document = document
        self.kind = kind
        self.size = size
        self.base = base
    }
}
