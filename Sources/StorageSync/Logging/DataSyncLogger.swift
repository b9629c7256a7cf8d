/// Receives the events of sync engines. Conform a client of your analytics to it.
///
/// ```swift
/// struct ConsoleLogger: DataSyncLogger {
///     func trackEvent(event: any DataSyncLogEvent) { print(event.eventName, event.parameters ?? [:]) }
///     func addUserProperties(dict: [String: Any], isHighPriority: Bool) {}
/// }
/// ```
///
/// Isolation: the main actor. Engines wait for each call, so keep it short.
@MainActor
public protocol DataSyncLogger: Sendable {
    /// Records an event.
    func trackEvent(event: any DataSyncLogEvent)
    /// Sets properties of the user for all later events. A ``DocumentSyncEngine`` passes the `eventParameters` of its
    /// document whenever they change, with high priority if it follows another document than before.
    func addUserProperties(dict: [String: Any], isHighPriority: Bool)
}
