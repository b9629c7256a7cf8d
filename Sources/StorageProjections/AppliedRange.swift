internal import StorageHistory

/// Positions of which a ``SideEffectingProjection`` has applied all events that are for it.
struct AppliedRange: Sendable {
    let positions: ClosedRange<Int64>
    /// Whether there are such events.
    let hasEvents: Bool

    init(_ positions: ClosedRange<Int64>, hasEvents: Bool) {
        (self.positions, self.hasEvents) = (positions, hasEvents)
    }

    /// - Returns: The whole range, unless some of its events weren't applied, but stored as dead letters: then only the
    ///   positions of those that were.
    static func ranges(
        of applied: [RowEvent], among events: [RowEvent], in positions: ClosedRange<Int64>
    ) -> [AppliedRange] {
        guard applied.count < events.count else { return [AppliedRange(positions, hasEvents: !events.isEmpty)] }
        return applied.map { AppliedRange($0.position...$0.position, hasEvents: true) }
    }
}
