/// The write of an engine that a remote service is asked to make, while it is asked: what a back end needs to take it once, and on the
/// right state of its document.
///
/// ```swift
/// func saveDocument(_ model: Product) async throws {
///     var request = URLRequest(url: url(model.id))
///     request.setValue(RemoteWrite.current?.idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
///     …
/// }
/// ```
public struct RemoteWrite: Sendable, Hashable {
    /// The write under way in this task; nil where a service is called by somebody else than an engine.
    @TaskLocal public static var current: RemoteWrite?

    /// Names the write among those of all stores: 34 to 70 letters, digits and dots.
    ///
    /// It is the same each time that the write is sent while its outcome isn't known, also by a later process. After the remote has
    /// refused the write and somebody says to retry it, or after a conflict, it is another one: a remote that remembers its answers
    /// by their keys would only repeat itself.
    public let idempotencyKey: String
    /// Whether it is to be taken only where the document is as the engine has fetched it by `getDocument` just before. What a back end
    /// without such conditions can't check goes through.
    public let isConditional: Bool
}
