/// An event that sync engines give to a ``DataSyncLogger``.
public protocol DataSyncLogEvent: Sendable {
    /// What happened, behind the engine's key, such as `watchlist_save_start`.
    var eventName: String { get }
    /// Ids, counts and texts of errors; nil where there are none. Never a document.
    var parameters: [String: Any]? { get }
    var type: DataLogType { get }
}
