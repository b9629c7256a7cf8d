/// A remote's answer to a request.
package enum SyncAnswer: Sendable, Equatable {
    case welcome(SyncWelcome)
    case pushed([NumberedResult])
    case page(SyncPage)
}
