/// What a browser wants done.
enum BrowserEffect: Sendable {
    /// Begins to read; what is being read is given up.
    case read(ReadRequest)
    /// Gives up what is being read.
    case cancel
    /// Stops as Ctrl-Z does.
    case suspend
    case quit
}
