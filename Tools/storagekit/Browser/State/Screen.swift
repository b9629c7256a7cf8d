/// One screen of the stack.
struct Screen: Sendable {
    let id: Int
    let location: Location
    var window = LineWindow()
    var titles: [TableCell] = []
    /// The number of columns scrolled out at the left.
    var left = 0
    /// Whether to select the first line that matches the search once it is read.
    var awaitsMatch = false
    var search: LineSearch?
    /// The planned changes of an undo, once they are known.
    var plan: ReversalRun.Plan?
    /// Why it can't be read; it isn't read again until requested.
    var error: CommandError?
    /// Whether the next lines replace those in memory.
    var isStale = false
    /// Whether reading was cancelled; the next movement resumes it.
    var isPaused = false

    init(id: Int, location: Location) {
        self.id = id
        self.location = location
    }
}
