internal import StorageCore

/// Whose document the row with some key is.
enum DocumentKey {
    /// The table of documents that are no entities.
    static let jsonTable = "sync_documents"

    /// - Parameter entity: The table in which an engine keeps its documents.
    static func id(in entity: String, of manager: String) -> @Sendable ([StorageEvent.Field]) -> String? {
        entity == jsonTable ? ofJSON(manager) : ofEntity
    }

    /// The id of the document whose row of an entity's table has a key.
    @Sendable static func ofEntity(_ key: [StorageEvent.Field]) -> String? {
        if case .text(let id)? = key.first?.value { id } else { nil }
    }

    /// The same in ``jsonTable``; nil for the documents of other engines.
    static func ofJSON(_ manager: String) -> @Sendable ([StorageEvent.Field]) -> String? {
        { key in
            guard key.count == 2, key[0].value == .text(manager), case .text(let id) = key[1].value else { return nil }
            return id
        }
    }
}
