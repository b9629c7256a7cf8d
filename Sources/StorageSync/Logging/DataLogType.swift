/// The severity of a ``DataSyncLogEvent``.
public enum DataLogType: Sendable {
    /// Normal operation.
    case info
    /// An event for an app's analytics.
    case analytic
    /// Something went wrong.
    case severe
}
