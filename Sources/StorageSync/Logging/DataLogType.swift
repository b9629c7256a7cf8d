/// The severity of a ``DataSyncLogEvent``.
public enum DataLogType: Sendable {
    /// Normal operation.
    case info
    /// An event that an app counts.
    case analytic
    /// Something went wrong.
    case severe
}
