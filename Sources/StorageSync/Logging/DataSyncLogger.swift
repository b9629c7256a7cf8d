/// Receives the events of sync engines: conform a client of your analytics to it.
///
/// ```swift
/// struct ConsoleLogger: DataSyncLogger {
///     func trackEvent(event: any DataSyncLogEvent) { print(event.eventName, event.parameters ?? [:]) }
///     func addUserProperties(dict: [String: Any], isHighPriority: Bool) {}
/// }
/// ```
///
/// Isolation: the main actor. Engines wait for what it does, so it is to be short.
@MainActor
public protocol DataSyncLogger: Sendable {
    func trackEvent(event: any DataSyncLogEvent)
    /// Properties of the user, for all events from now on. Engines of single documents pass the `eventParameters` of the document that they
    /// follow, whenever those are others; with high priority where it is another document than before.
    func addUserProperties(dict: [String: Any], isHighPriority: Bool)
}
