/// Who and what the commits of a task are made for. Set it around a request, and every write inside carries it.
///
/// ```swift
/// try await StorageContext.$actor.withValue("anna") {
///     try await storage.save(user)
/// }
/// ```
public enum StorageContext {
    @TaskLocal public static var actor: String?
    @TaskLocal public static var app: String?
    @TaskLocal public static var correlation: String?
}
