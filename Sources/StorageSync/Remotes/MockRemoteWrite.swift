/// A write that a mock remote has received.
public enum MockRemoteWrite<T: DataSyncModelProtocol>: Sendable {
    /// A document was saved.
    case save(T)
    /// Fields of a document were changed; `fields` are their sorted names.
    case update(id: String, fields: [String])
    /// A document was deleted.
    case delete(id: String)
}

extension MockRemoteWrite: Equatable where T: Equatable {}
