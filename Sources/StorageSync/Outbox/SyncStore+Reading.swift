internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Reads what is sent to the remote: writes, their operations, and the saved state.
extension SyncStore {
    /// The writes after the engine's last commit, and after a position.
    func written(since row: SyncRemoteRow, behind position: Int64) async throws -> [PendingWrite] {
        try await storage.engine.read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            return try written(since: row, behind: position, reader, try Catalog.load(connection), in: db)
        }
    }

    func written(since row: SyncRemoteRow, _ tx: WriteTransaction) throws -> [PendingWrite] {
        let reader = LogReader(tx.writer.database)
        return try written(since: row, behind: row.scanned, reader, tx.writer.catalog, in: tx.database)
    }

    func written(
        since row: SyncRemoteRow, behind position: Int64, _ reader: LogReader, _ catalog: Catalog, in db: Database
    ) throws -> [PendingWrite] {
        let found = try WriteScan(entity: table.entity, id: table.id).writes(
            behind: max(row.scanned, position), base: row.record.position, reader, catalog)
        guard !found.isEmpty, try SyncTables.exist(in: db) else { return found.map(\.write) }
        return try found.map { write, metadata in
            var write = write
            write.isConditional = resolution.isConditional || SyncPreconditionAttribute.isStated(in: metadata)
            write.base = max(write.base, try versions.version(of: write.document.id, in: db))
            return write
        }
    }

    /// The last saved state; nil if another path has replaced this one.
    func load() async throws -> State? {
        try await storage.engine.read { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            return try state(row, in: db)
        }
    }

    /// The operations of outbox writes for the remote, by origin.
    ///
    /// - Parameter rows: Rows that were read for the previous batch.
    func outgoingWrites(
        of origins: [Int64], since: Int64, rows: RecentRows
    ) async throws -> (writes: [Int64: OutgoingWrite], rows: RecentRows) {
        try await storage.engine.read { db in
            let documents = try documentReader(db, rows: rows)
            let lineage = try StoreLineage.load(documents.database)
            var writes: [Int64: OutgoingWrite] = [:]
            var corrections = Corrections()
            for origin in origins {
                let line = Hexadecimal.text(lineage.line(of: origin).id)
                let parts = try outbox.writes(of: origin, in: db)
                guard let write = parts.last else { continue }
                var operation: DocumentOperation?
                let (sendable, problem) = try documents.writableOperations(of: parts, since: since)
                for part in sendable { operation = operation?.followed(by: part.operation) ?? part.operation }
                writes[origin] = OutgoingWrite(
                    document: write.document.id, operation: operation ?? .nothing,
                    isConditional: write.isConditional, base: write.base,
                    key: "\(line).\(origin)\(write.retries > 0 ? ".\(write.retries)" : "")",
                    problem: try problem.map {
                        UnsendableWrite(
                            reason: $0.message, sendableEnd: sendable.last?.write.position,
                            correction: try corrections.first(after: write) {
                                try outbox.pending(of: write.document.id, in: db)
                            } where: { later in
                                try documents.writableOperations(of: [later], since: since).problem == nil
                            }?.position)
                    })
            }
            return (writes, documents.rows)
        }
    }

    func documentReader(_ db: Database, rows: RecentRows = RecentRows()) throws -> DocumentReader<T> {
        let connection = try db.connection
        return DocumentReader(
            table, connection, catalog: try Catalog.load(connection), upcasts: storage.upcasts, rows: rows)
    }

    /// Inside a transaction of the engine.
    func documentReader(_ tx: WriteTransaction) -> DocumentReader<T> {
        DocumentReader(table, tx.writer.database, catalog: tx.writer.catalog, upcasts: storage.upcasts)
    }

    /// The known state of a document with unsent writes at the remote, and the position at which another writer last changed it.
    func remoteDocument(
        _ id: String, since: Int64
    ) async throws -> (fields: DocumentFields?, changePosition: Int64) {
        try await storage.engine.read { db in
            (
                try base(of: id, since: since, in: db, documentReader(db)),
                try bases.changePosition(of: id, in: db)
            )
        }
    }

    /// The ids of documents that match a query, or can't be compared with it, also because the remote's document couldn't be
    /// stored; none without a query.
    func ids(of ids: [String], foundBy query: QueryEvaluation?) async throws -> [String] {
        guard let query else { return [] }
        return try await storage.engine.read { db in
            try ids.filter { id in
                if try bases.unreadableReason(of: id, in: db) != nil { return true }
                do {
                    return try table.get(id, db).map { query.matches(try JSONValue(encoding: $0)) } ?? false
                } catch let error as StorageError where error.code == .invalidValue {
                    return true
                }
            }
        }
    }

    /// The ids of all documents, also of those that can't be stored as rows.
    func ids() async throws -> [String] {
        try await storage.engine.read { db in
            let others = try bases.unreadable(in: db).map(\.documentId).filter { try !table.contains($0, db) }
            return try table.positions(db).map(\.id) + others
        }
    }
}
