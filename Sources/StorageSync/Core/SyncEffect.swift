/// What a core wants done, in this order. After a crash between two effects, a new core continues from what was saved.
package enum SyncEffect: Sendable, Equatable {
    /// Saves atomically and durably before the next effect, and only if no other driver has saved since this core was created or last saved. If that
    /// fails, a new core is created from what was saved, as after a crash.
    case save(SyncTransaction)
    case send(SyncRequest)
    /// The time in microseconds since 1970; nil for no timer. Replaces the previous timer. Convert it to a duration at
    /// once: a timer that waits for a point in time waits too long when the clock is set back.
    case setTimer(Int64?)
}
