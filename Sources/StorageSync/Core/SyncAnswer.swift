/// A remote's answer to a request.
package enum SyncAnswer: Sendable, Equatable {
    case welcome(SyncWelcome)
    case pushed([NumberedResult])
    case page(SyncPage)
    /// Nothing of the batch was sent, because these writes, by origin, can't be.
    case unsent([Int64: UnsendableWrite])
}
