internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// What a transaction has to know of the past of the documents that it writes.
///
/// It is looked up before anything is written, because the events of a transaction aren't in the log before its end. The outlines of
/// the log serve for that: a batch writes to many documents, and their values are of no use but where one was deleted. Deletions by the
/// transaction's own writes are noted as they are made; those by triggers and cascades are known to the next transaction.
///
/// Not `Sendable`: it lives as long as the transaction.
final class HubHistory {
    struct Deletion {
        let position: Int64
        /// Nil where the hub's own program has deleted it.
        let producer: ProducerID?
        /// What was deleted.
        let row: HubTable.Row
        let table: HubTable
    }

    private struct Write: Hashable {
        let producer: ProducerID
        let origin: Int64
    }

    private var deletions: [DocumentID: Deletion] = [:]
    private var positions: [Write: Int64] = [:]
    /// Of documents that conditional writes concern, and of those that were changed by the transaction.
    private var lastChanges: [DocumentID: LastChanges] = [:]

    init(of batches: [HubBatch], _ writer: LogWriter, _ db: Database) throws {
        let reader = LogReader(writer.database)
        var bases: [DocumentID: Int64] = [:]
        for write in batches.flatMap(\.writes) {
            bases[write.document] = min(bases[write.document] ?? .max, write.base)
        }
        for batch in batches {
            let lastOrigin = try HubProducers.load(batch.producer, in: db)?.lastOrigin ?? 0
            for write in batch.writes {
                guard let entity = writer.catalog.entity(named: write.document.entity),
                    let table = HubTable(entity), let key = table.key(of: write.document.id)
                else { continue }
                if write.origin <= lastOrigin {
                    let source = HubSource(producer: batch.producer, origin: write.origin)
                    positions[Write(producer: batch.producer, origin: write.origin)] = try Self.position(
                        of: source, key, in: table, reader)
                }
                if write.isConditional, lastChanges[write.document] == nil {
                    lastChanges[write.document] = try Self.lastChanges(of: key, in: table, reader)
                }
                // Looked up with the first write of the document.
                guard let base = bases.removeValue(forKey: write.document) else { continue }
                let version = try table.row(key, in: writer.database)?.position
                // All that has happened to a document that is there was known.
                if let version, version <= base { continue }
                deletions[write.document] = try Self.deletion(
                    of: key, in: table, behind: version == nil ? 0 : base, reader, writer.catalog)
            }
        }
    }

    /// Where a write was applied before: by a hub that this one was restored from, while the producer followed another. One that
    /// changed nothing isn't found.
    func position(of origin: Int64, by producer: ProducerID) -> Int64? {
        positions[Write(producer: producer, origin: origin)]
    }

    /// The last deletion of a document that isn't there, or was made again; of one that was made again before all writes were made, none.
    func deletion(of document: DocumentID) -> Deletion? { deletions[document] }

    /// The last change of a document by anybody but a producer; 0 where there is none.
    func lastChange(of document: DocumentID, byOthersThan producer: ProducerID) -> Int64 {
        lastChanges[document]?.position(byOthersThan: producer) ?? 0
    }

    func note(_ deletion: Deletion, of document: DocumentID) { deletions[document] = deletion }

    func noteChange(of document: DocumentID, at position: Int64, by producer: ProducerID) {
        lastChanges[document] = LastChanges(position: position, producer: producer, before: lastChanges[document])
    }

    /// - Complexity: O(*n*) in the versions of the document.
    private static func position(
        of source: HubSource, _ key: StorageValue, in table: HubTable, _ reader: LogReader
    ) throws -> Int64? {
        var position: Int64?
        try reader.forEachVersionOutline(of: [key], in: table.entity) { outline, index in
            guard HubSource(outline.commit(ofEvent: index).metadata) == source else { return true }
            position = outline.header.first + Int64(index)
            return false
        }
        return position
    }

    /// - Complexity: O(*n*) in the versions of the document behind the position.
    private static func deletion(
        of key: StorageValue, in table: HubTable, behind position: Int64, _ reader: LogReader, _ catalog: Catalog
    ) throws -> Deletion? {
        var deletion: Int64?
        try reader.forEachVersionOutline(of: [key], in: table.entity) { outline, index in
            let version = outline.header.first + Int64(index)
            guard version > position else { return false }
            guard outline.shape(ofEvent: index).operation == .delete else { return true }
            deletion = version
            return false
        }
        guard let deletion, let batch = try reader.batch(containing: deletion) else { return nil }
        let event = batch.event(at: Int(deletion - batch.header.first), catalog: catalog)
        return Deletion(
            position: deletion, producer: HubSource(event.commit.metadata)?.producer, row: table.row(before: event),
            table: table)
    }

    /// - Complexity: O(*n*) in the versions of the document.
    private static func lastChanges(
        of key: StorageValue, in table: HubTable, _ reader: LogReader
    ) throws -> LastChanges? {
        var newest: (position: Int64, producer: ProducerID?)?
        var changes: LastChanges?
        try reader.forEachVersionOutline(of: [key], in: table.entity) { outline, index in
            let position = outline.header.first + Int64(index)
            let producer = HubSource(outline.commit(ofEvent: index).metadata)?.producer
            guard let last = newest else {
                newest = (position, producer)
                return true
            }
            guard producer != last.producer else { return true }
            changes = LastChanges(position: position, producer: producer, before: nil)
            return false
        }
        return newest.map { LastChanges(position: $0.position, producer: $0.producer, before: changes) }
    }
}
