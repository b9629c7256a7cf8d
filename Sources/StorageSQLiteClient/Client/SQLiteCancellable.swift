/// Something that runs until it is cancelled or its last reference is released.
public protocol SQLiteCancellable: Sendable {
    /// Ends it. Calling it again has no effect.
    func cancel()
}
