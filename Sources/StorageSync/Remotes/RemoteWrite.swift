/// The write that a remote service is asked to make, with what a back end needs to apply it only once, and only to the
/// expected state of its document.
///
/// ```swift
/// func saveDocument(_ model: Product) async throws {
///     var request = URLRequest(url: url(model.id))
///     request.setValue(RemoteWrite.current?.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
///     …
/// }
/// ```
public struct RemoteWrite: Sendable, Hashable {
    /// The write that this task makes; nil if the service wasn't called by an engine.
    @TaskLocal public static var current: RemoteWrite?

    /// Identifies the write among those of all stores: 34 to 70 letters, digits and dots.
    ///
    /// It stays the same as long as the write's outcome isn't known, even if a later process sends the write again. It
    /// changes when a refused write is retried, and after a conflict: otherwise, a remote that stores its answers by
    /// key would repeat the old one.
    public let idempotencyKey: String
    /// Whether to accept the write only if the document is still in the state that `getDocument` has just returned. A
    /// back end that doesn't support such conditions applies the write anyway.
    public let isConditional: Bool
}
