internal import StorageHistory
internal import StorageLog

/// Events that follow one another in the log and are applied at once.
struct EventSlice {
    let events: [RowEvent]
    /// The range of the log that the slice covers. Positions in it without an event are of other entities.
    let positions: ClosedRange<Int64>

    /// One event by itself.
    init(_ event: RowEvent) { self.init([event], at: event.position...event.position) }

    init(_ events: [RowEvent], at positions: ClosedRange<Int64>) {
        self.events = events
        self.positions = positions
    }
}
