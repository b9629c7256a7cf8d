/// What a remote answers.
package enum SyncAnswer: Sendable, Equatable {
    case welcome(SyncWelcome)
    case pushed([NumberedResult])
    case page(SyncPage)
}
