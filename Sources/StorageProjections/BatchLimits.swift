/// How much is applied at once.
struct BatchLimits {
    /// The number of events after which the transaction ends with the current commit.
    var events: Int
    /// Events that are passed at once.
    var slice: Int
    /// Whether the transaction ends after the first commit with events of the projection's.
    var isSingle = false
    /// The last position of history that is replayed. No slice extends across it.
    var border: Int64 = 0
}
