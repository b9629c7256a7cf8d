internal import StorageCore

/// A precondition of an engine's write, for optimistic concurrency control.
///
/// ```swift
/// let product = try await productsSyncEngine.getDocumentAsync(id: "product_123")
/// try await productsSyncEngine.updateDocument(
///     id: product.id, data: ["stock": product.stock - 1], expecting: .unchanged(since: product))
/// ```
///
/// It is checked twice. When the write is made, the stored document must meet it; otherwise the write throws
/// `conflict`, and nothing is written. When the write reaches the remote, no other client may have changed the document
/// there; otherwise the write is parked, and its receipt throws. Other writes of this store don't conflict.
///
/// A remote service has no versions, so the document is fetched before the write is sent, and compared with the state
/// received before. Changes by others between this fetch and the write are overwritten, field by field.
public enum SyncPrecondition<T: DataSyncModelProtocol>: Sendable {
    /// The write is unconditional.
    case anything
    /// There is no such document.
    case absent
    /// The document is as it was read.
    case unchanged(since: T)

    /// - Throws: `conflict` if the stored document differs.
    func check(_ found: T?, id: String) throws {
        let holds =
            switch self {
            case .anything: true
            case .absent: found == nil
            case .unchanged(let document):
                try found.map { try DocumentFields(encoding: $0) } == DocumentFields(encoding: document)
            }
        guard !holds else { return }
        throw StorageError(
            .conflict, "The document \"\(id)\" doesn't match the precondition of the write.",
            remedy: "Read it again and retry with its current version.")
    }

    /// The attributes of the write's commit.
    var attributes: [String: String] {
        isStated ? [SyncPreconditionAttribute.name: SyncPreconditionAttribute.unchanged] : [:]
    }

    var isStated: Bool { if case .anything = self { false } else { true } }
}
