/// One of the screens that lie on each other.
struct Screen: Sendable {
    let id: Int
    let location: Location
    var window = LineWindow()
    var titles: [TableCell] = []
    /// How many columns are left out at the left.
    var left = 0
    /// Whether the first line that matches the search is to be selected once it is there.
    var awaitsMatch = false
    var search: LineSearch?
    /// What an undo would change, once it is known.
    var plan: ReversalRun.Plan?
    /// Why it can't be read; nothing more is read then until it is asked for again.
    var error: CommandError?
    /// Whether what is in memory is to be replaced by the next lines.
    var isStale = false
    /// Whether reading was given up; the next movement begins it again.
    var isPaused = false

    init(id: Int, location: Location) {
        self.id = id
        self.location = location
    }
}
