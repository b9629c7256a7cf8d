internal import StorageCore
internal import StorageLog

/// Finds an engine's writes in the log: all changes in the table of its documents.
struct WriteScan: Sendable {
    /// The table's name in the log.
    let entity: String
    /// The document id for a row's key; nil if the row isn't one of the engine's.
    let id: @Sendable (_ key: [StorageEvent.Field]) -> String?

    /// The writes after a position, each with its commit's attributes.
    ///
    /// - Parameter base: The known position of the remote.
    func writes(
        behind position: Int64, base: Int64, _ reader: LogReader, _ catalog: Catalog
    ) throws -> [(write: PendingWrite, metadata: CommitMetadata)] {
        var query = LogQuery(tables: [entity])
        query.positions = (position + 1)...Int64.max
        var writes: [(PendingWrite, CommitMetadata)] = []
        try reader.forEachEvent(query, catalog: catalog) { batch, index, commit in
            guard !FetchedCommit.isOne(commit.metadata) else { return true }
            let event = batch.event(at: index, catalog: catalog, commit: commit)
            guard let id = id(event.key) else { return true }
            let write = PendingWrite(
                position: event.position, document: DocumentID(entity: entity, id: id), kind: event.operation.kind,
                size: event.size, base: base)
            writes.append((write, commit.metadata))
            return true
        }
        return writes
    }
}

extension StorageEvent.Operation {
    /// The event's effect on the row's document.
    fileprivate var kind: PendingWrite.Kind {
        switch self {
        case .insert: .save
        case .update: .patch
        case .delete: .delete
        }
    }
}

extension StorageEvent {
    /// The approximate size of its values in bytes.
    fileprivate var size: Int {
        (key + (new ?? old ?? [])).reduce(0) { total, field in
            switch field.value {
            case .text(let text): total + text.utf8.count
            case .blob(let data): total + data.count
            case .null, .integer, .real: total + 8
            }
        }
    }
}
