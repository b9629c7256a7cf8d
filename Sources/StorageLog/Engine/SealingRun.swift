/// Neighbouring rows of the log that are to become one.
struct SealingRun: Sendable {
    struct Row: Sendable, Equatable {
        var position: Int64
        var last: Int64
    }

    /// In order, without a gap, at least one.
    var rows: [Row]
}
