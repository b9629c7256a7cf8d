/// Task-local metadata of commits: who makes them and for what. Set it around a request; every write inside then records it.
///
/// ```swift
/// try await CommitContext.$actor.withValue("anna") {
///     try await storage.save(user)
/// }
/// ```
public enum CommitContext {
    /// The person or service that makes the changes.
    @TaskLocal public static var actor: String?
    /// The name of the program that makes the changes.
    @TaskLocal public static var app: String?
    /// An id that links commits to a request, job or message elsewhere.
    @TaskLocal public static var correlation: String?
}
