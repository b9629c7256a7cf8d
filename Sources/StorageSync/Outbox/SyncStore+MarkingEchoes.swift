internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// A page in which changes with nothing new are marked as echoes: they only repeat, for a document with unsent writes,
    /// what the remote had, or what it has once it has accepted the writes.
    func markingEchoes(in page: SyncPage, since: Int64) async throws -> SyncPage {
        let changes = try await storage.engine.read { db in
            let documents = try documentReader(db)
            return try page.changes.map { change in
                let id = change.document.id
                guard change.isForeign, try outbox.firstPending(of: id, in: db) != nil else { return change }
                let base = try base(of: id, since: since, in: db, documents)
                let shown = try table.get(id, db).map { try DocumentFields(encoding: $0) }
                var predicted = base
                DocumentOperation(change.operation).apply(to: &predicted)
                return predicted == base || predicted == shown ? change.asEcho : change
            }
        }
        return SyncPage(start: page.start, end: page.end, changes: changes, part: page.part)
    }
}

extension RemoteChange {
    fileprivate var asEcho: RemoteChange {
        RemoteChange(position: position, document: document, operation: operation, ownOrigin: nil, isEcho: true)
    }
}
