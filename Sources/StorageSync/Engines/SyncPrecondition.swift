internal import StorageCore

/// What a document must be like for a write of an engine to be made, and to be taken by the remote: optimistic concurrency.
///
/// ```swift
/// let product = try await productsSyncEngine.getDocumentAsync(id: "product_123")
/// try await productsSyncEngine.updateDocument(
///     id: product.id, data: ["stock": product.stock - 1], expecting: .unchanged(since: product))
/// ```
///
/// It is checked twice. When the write is made, the store must have the document as it is expected: `conflict` otherwise, and nothing
/// is written. Until the remote has taken the write, nobody else may change the document there: otherwise the write is parked, and
/// its receipt throws. Other writes of this store's aren't conflicts.
///
/// A remote service knows no versions. It is asked for the document before the write is sent, and the answer is compared with what was
/// received from it before. What somebody changes between that answer and the write is overwritten, field by field.
public enum SyncPrecondition<T: DataSyncModelProtocol>: Sendable {
    case anything
    /// There is no such document.
    case absent
    /// The document is as it was read.
    case unchanged(since: T)

    /// - Throws: `conflict` where the store has something else.
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

    /// Of the commit that makes the write.
    var attributes: [String: String] {
        isStated ? [SyncPreconditionAttribute.name: SyncPreconditionAttribute.unchanged] : [:]
    }

    var isStated: Bool { if case .anything = self { false } else { true } }
}
