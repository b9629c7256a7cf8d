internal import StorageLog

/// What one step of catching up has done.
struct BatchOutcome {
    /// The checkpoint from then on; nil where the projection was taken out of the store.
    var checkpoint: Checkpoint?
    var events = 0
    /// The events that a ``SideEffectingProjection`` is given.
    var emitted: [StorageEvent] = []
}
