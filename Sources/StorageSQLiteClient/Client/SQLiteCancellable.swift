/// What runs until it is cancelled, or nobody holds it any more.
public protocol SQLiteCancellable: Sendable {
    /// Ends it. Calling it again does nothing.
    func cancel()
}
