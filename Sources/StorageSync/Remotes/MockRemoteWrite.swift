/// A write that a mock remote has received.
public enum MockRemoteWrite<T: DataSyncModelProtocol>: Sendable {
    case save(T)
    /// The sorted names of the fields.
    case update(id: String, fields: [String])
    case delete(id: String)
}

extension MockRemoteWrite: Equatable where T: Equatable {}
