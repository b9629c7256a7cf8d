/// What a core wants done, in this order. After a crash between two of them a new core goes on from what was saved.
package enum SyncEffect: Sendable, Equatable {
    /// Together or not at all.
    case save(SyncTransaction)
    case send(SyncRequest)
    /// In microseconds since 1970; nil for no timer. A timer replaces the one before.
    case setTimer(Int64?)
}
