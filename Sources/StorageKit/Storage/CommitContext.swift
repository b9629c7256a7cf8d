/// Who and what the commits of a task are made for. Set it around a request, and every write inside carries it.
///
/// ```swift
/// try await CommitContext.$actor.withValue("anna") {
///     try await storage.save(user)
/// }
/// ```
public enum CommitContext {
    /// The person or service that makes the changes.
    @TaskLocal public static var actor: String?
    /// The program.
    @TaskLocal public static var app: String?
    /// What ties commits to a request, job or message elsewhere.
    @TaskLocal public static var correlation: String?
}
