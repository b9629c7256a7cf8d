/// An event that sync engines pass to a ``DataSyncLogger``.
public protocol DataSyncLogEvent: Sendable {
    /// What happened, prefixed with the engine's key, such as `watchlist_save_start`.
    var eventName: String { get }
    /// Ids, counts and error messages, but never a document; nil if there are none.
    var parameters: [String: Any]? { get }
    /// The severity of the event.
    var type: DataLogType { get }
}
