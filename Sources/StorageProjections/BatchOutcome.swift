/// The result of one step of catching up.
struct BatchOutcome {
    /// The checkpoint after the step; nil if the projection was removed from the store.
    var checkpoint: Checkpoint?
    var events = 0
    /// The events that a ``SideEffectingProjection`` is given.
    var emitted: [AppliedRange] = []
}
