/// A node's unpublished changes: everything, or the steps since the last publication.
struct PendingSteps<Update: SteppedUpdate> {
    /// Nil if nothing has changed.
    private var update: Update?
    /// The position that was published last.
    private(set) var position: Int64 = 0

    /// Notes that something other than the rows has changed.
    mutating func note() {
        if update == nil { update = Update() }
    }

    mutating func append(_ step: Update.Step) {
        note()
        update?.changes.append(step)
    }

    /// Appends an update's steps, or replaces all pending ones if the update is a whole one.
    mutating func append(_ next: Update) {
        if update == nil { update = next } else { update?.append(next) }
    }

    /// Replaces the pending steps with everything.
    mutating func replace(with whole: Update.Whole) {
        var update = Update()
        update.whole = whole
        self.update = update
    }

    mutating func removeAll() { update = nil }

    /// Removes and returns the pending update, at a position; nil if there is none.
    mutating func take(at position: Int64) -> Update? {
        guard var update else { return nil }
        self.update = nil
        self.position = position
        update.position = position
        return update
    }

    /// An update of what was published last, without its rows.
    var header: Update {
        var header = Update()
        header.position = position
        return header
    }
}
