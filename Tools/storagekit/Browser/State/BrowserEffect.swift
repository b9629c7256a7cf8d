/// An effect that a browser requests.
enum BrowserEffect: Sendable {
    /// Starts a read; the current one is cancelled.
    case read(ReadRequest)
    /// Cancels the current read.
    case cancel
    /// Stops as Ctrl-Z does.
    case suspend
    case quit
}
