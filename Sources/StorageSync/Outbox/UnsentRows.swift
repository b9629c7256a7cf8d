internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageRecords

/// Which rows of an entity were waiting to be sent by a sync engine at some point: those with unconfirmed writes, and
/// those written after the engine's last read of the log.
///
/// - Complexity: O(*n*) memory in the number of documents whose writes are in the outbox.
struct UnsentRows: Sendable {
    /// The documents with writes in the outbox.
    private var documents: Set<ExactText> = []
    /// The position up to which the engine had read the log; nil if no engine keeps its documents in the entity's
    /// table.
    private var scanned: Int64?
    /// The end of the log.
    private let end: Int64

    /// The connection's current state.
    init(of entity: String, in db: Database, _ reader: LogReader) throws {
        end = try reader.head().position
        let lineage = try StoreLineage.load(reader.database)
        for (manager, row) in try SyncRemoteRow.active(of: entity, in: db) {
            let shared = row.sharedEnd(lineage, head: end)
            let outbox = OutboxTable(manager: manager, path: row.path, entity: entity)
            documents.formUnion(try outbox.pendingDocuments(through: shared ?? .max, in: db).map(ExactText.init))
            scanned = min(scanned ?? .max, row.scanned, shared ?? .max)
        }
    }

    var isEmpty: Bool { documents.isEmpty && (scanned ?? end) >= end }

    /// Returns whether a row was waiting to be sent.
    ///
    /// - Parameters:
    ///   - last: The position of the row's last event.
    ///   - isFetched: Whether the commit at a position has fetched rows: those aren't sent.
    func contains(_ key: StorageValue, last: Int64, isFetched: (Int64) throws -> Bool) rethrows -> Bool {
        if case .text(let id) = key, documents.contains(ExactText(id)) { return true }
        guard let scanned, last > scanned, last <= end else { return false }
        return try !isFetched(last)
    }
}
