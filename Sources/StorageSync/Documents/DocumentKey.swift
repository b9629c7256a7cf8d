internal import StorageCore

/// Finds the document that a row's key belongs to.
enum DocumentKey {
    /// The table of documents whose types aren't entities.
    static let jsonTable = "sync_documents"

    /// - Parameter entity: The table in which an engine keeps its documents.
    static func id(in entity: String, of manager: String) -> @Sendable ([StorageEvent.Field]) -> String? {
        entity == jsonTable ? ofJSON(manager) : ofEntity
    }

    /// The document id for a key of an entity's table.
    @Sendable static func ofEntity(_ key: [StorageEvent.Field]) -> String? {
        if case .text(let id)? = key.first?.value { id } else { nil }
    }

    /// The same for ``jsonTable``; nil for documents of other engines.
    static func ofJSON(_ manager: String) -> @Sendable ([StorageEvent.Field]) -> String? {
        { key in
            guard key.count == 2, key[0].value == .text(manager), case .text(let id) = key[1].value else { return nil }
            return id
        }
    }
}
