/// What is new of a node and hasn't been published: everything, or the steps since it was published last.
struct PendingSteps<Update: SteppedUpdate> {
    /// Nil where nothing is new.
    private var update: Update?
    /// That of what was published last.
    private(set) var position: Int64 = 0

    /// Something beside the rows is new.
    mutating func note() {
        if update == nil { update = Update() }
    }

    mutating func append(_ step: Update.Step) {
        note()
        update?.changes.append(step)
    }

    /// Adds the steps of an update, or replaces what there is where it has everything.
    mutating func append(_ next: Update) {
        if update == nil { update = next } else { update?.append(next) }
    }

    /// Publishes everything, in the place of steps.
    mutating func replace(with whole: Update.Whole) {
        var update = Update()
        update.whole = whole
        self.update = update
    }

    mutating func removeAll() { update = nil }

    /// What is new, to be published at a position; nil where nothing is.
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
