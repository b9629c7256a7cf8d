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
                var predicted = base
                DocumentOperation(change.operation).apply(to: &predicted)
                return try predicted == base || shows(predicted, as: id, in: db) ? change.asEcho : change
            }
        }
        return SyncPage(
            start: page.start, end: page.end, changes: changes, part: page.part, unreadable: page.unreadable)
    }
}

extension RemoteChange {
    fileprivate var asEcho: RemoteChange {
        RemoteChange(position: position, document: document, operation: operation, ownOrigin: nil, isEcho: true)
    }
}
