/// How much is applied at once.
struct BatchLimits {
    /// Events after which the transaction ends with the commit under way.
    var events: Int
    /// Events that are passed at once.
    var slice: Int
    /// Whether the transaction ends after the first commit with events of the projection's.
    var isSingle = false
    /// No slice reaches across this position: what lies before is only read again.
    var border: Int64 = 0
}
