import StorageSync

/// Keeps what is logged.
@MainActor
final class EventRecorder: DataSyncLogger {
    private(set) var events: [any DataSyncLogEvent] = []
    private(set) var properties: [(id: String?, isHighPriority: Bool)] = []
    nonisolated init() {}
    func trackEvent(event: any DataSyncLogEvent) { events.append(event) }
    func addUserProperties(dict: [String: Any], isHighPriority: Bool) {
        properties.append((dict["id"] as? String, isHighPriority))
    }

    /// Which documents went, as was received, sorted.
    var deletions: [String] { ids("documentDeleted").sorted() }

    /// Why bulk loads have failed.
    var bulkLoadFailures: [String] {
        parameters("bulkLoad_fail").compactMap { $0["error_description"] as? String }
    }

    /// The parameters of events of a name without the engine's key, in their order.
    func parameters(_ name: String) -> [[String: Any]] {
        events.filter { $0.eventName.split(separator: "_", maxSplits: 1).last.map(String.init) == name }
            .map { $0.parameters ?? [:] }
    }

    /// The documents that they name.
    func ids(_ name: String) -> [String] { parameters(name).compactMap { $0["document_id"] as? String } }
}
