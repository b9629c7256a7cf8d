/// What a core wants done, in this order. After a crash between two of them a new core goes on from what was saved.
package enum SyncEffect: Sendable, Equatable {
    /// Together or not at all, durable before the next effect, and only if nobody has saved since this core was made or has
    /// saved last. Where that fails, a new core is made from what was saved, as after a crash.
    case save(SyncTransaction)
    case send(SyncRequest)
    /// In microseconds since 1970; nil for no timer. A timer replaces the one before. To be made a duration at once: a timer
    /// that waits for a point in time waits for too long when the clock is set back.
    case setTimer(Int64?)
}
