internal import StorageCore
internal import StorageLog

/// Finds an engine's writes in the log: whatever was changed in the table of its documents.
struct WriteScan: Sendable {
    /// The table's name in the log.
    let entity: String
    /// The id of the document whose row has a key; nil where it is none of the engine's.
    let id: @Sendable (_ key: [StorageEvent.Field]) -> String?

    /// The writes behind a position, each with what its commit says of itself.
    ///
    /// - Parameter base: The position of the remote that is known.
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
    /// What it does to the document that the row is.
    fileprivate var kind: PendingWrite.Kind {
        switch self {
        case .insert: .save
        case .update: .patch
        case .delete: .delete
        }
    }
}

extension StorageEvent {
    /// About how many bytes its values take.
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
