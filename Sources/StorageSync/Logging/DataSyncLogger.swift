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
    /// Sets properties of the user for all later events. Engines of single documents pass the `eventParameters` of the
    /// document that they follow whenever they change; with high priority if it is another document than before.
    func addUserProperties(dict: [String: Any], isHighPriority: Bool)
}
