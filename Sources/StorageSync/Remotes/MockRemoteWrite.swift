/// A write that a mock of a remote was sent.
public enum MockRemoteWrite<T: DataSyncModelProtocol>: Sendable {
    case save(T)
    /// The names of the fields, sorted.
    case update(id: String, fields: [String])
    case delete(id: String)
}

extension MockRemoteWrite: Equatable where T: Equatable {}
