/// How grave a ``DataSyncLogEvent`` is.
public enum DataLogType: Sendable {
    /// Something happened as it should.
    case info
    /// Something that an app counts.
    case analytic
    /// Something went wrong.
    case severe
}
