/// The write that a remote service is asked to make: what a back end needs to apply it once, and to the expected state
/// of its document.
///
/// ```swift
/// func saveDocument(_ model: Product) async throws {
///     var request = URLRequest(url: url(model.id))
///     request.setValue(RemoteWrite.current?.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
///     …
/// }
/// ```
public struct RemoteWrite: Sendable, Hashable {
    /// The current write of this task; nil if the service wasn't called by an engine.
    @TaskLocal public static var current: RemoteWrite?

    /// Identifies the write among those of all stores: 34 to 70 letters, digits and dots.
    ///
    /// It stays the same whenever the write is sent again while its outcome isn't known, even by a later process. It
    /// changes after the remote has refused the write and it is retried, or after a conflict: a remote that remembers
    /// its answers by their keys would otherwise repeat itself.
    public let idempotencyKey: String
    /// Whether to accept the write only if the document is as the engine has fetched it by `getDocument` just before. A
    /// back end without such conditions applies the write anyway.
    public let isConditional: Bool
}
