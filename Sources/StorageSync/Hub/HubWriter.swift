internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Applies a client's writes inside a transaction of the hub's store.
///
/// Not `Sendable`: it lives on the store's writer for the length of a call.
struct HubWriter {
    private let writer: LogWriter
    private let db: Database
    private let access: HubAccess
    /// Set in a transaction that applies batches.
    private let history: HubHistory?
    /// Whether a batch's writes to a table whose schema doesn't fit are rejected, instead of failing the batch.
    private let rejectsUnfitTables: Bool

    init(
        _ writer: LogWriter, _ db: Database, as access: HubAccess, knowing history: HubHistory? = nil,
        rejectsUnfitTables: Bool = false
    ) {
        self.writer = writer
        self.db = db
        self.access = access
        self.history = history
        self.rejectsUnfitTables = rejectsUnfitTables
    }

    /// Why a write isn't applied.
    struct Rejected: Error {
        let rejection: WriteRejection
    }

    /// Applies a batch, each write in a commit of its own.
    func apply(_ batch: HubBatch) throws -> Result<[NumberedResult], any Error> {
        guard var producer = try HubProducersTable.load(batch.producer, in: db) else {
            return .failure(SyncFailure.sessionEnded(epoch: nil))
        }
        switch producer.admits(batch) {
        case .refused: return .failure(SyncFailure.sessionEnded(epoch: producer.epoch))
        case .reused: return .failure(SyncFailure.numberReused)
        case .repeated(let results): return .success(results)
        case .new: break
        }
        var results: [NumberedResult] = []
        var rejected: Set<DocumentID> = []
        for (number, write) in zip(batch.firstNumber..., batch.writes) {
            let isBlocked = rejected.contains(write.document)
            let result = isBlocked ? .blocked : try apply(write, from: batch.producer, &producer)
            if case .rejected = result { rejected.insert(write.document) }
            results.append(NumberedResult(number: number, result: result))
        }
        producer.finish(batch, results)
        try HubProducersTable.save(producer, of: batch.producer, in: db)
        return .success(results)
    }

    private func apply(
        _ write: HubWrite, from producer: ProducerID, _ known: inout WriteDeduplication
    ) throws -> WriteResult {
        if let position = history?.position(of: write.origin, by: producer) { return .applied(at: position) }
        if history?.isUnknown(write.origin, by: producer) ?? false { return .rejected(.unknown) }
        let source = HubWriteSource(producer: producer, origin: write.origin)
        let metadata = CommitMetadata(actor: access.actor, reason: "sync", attributes: source.attributes)
        var isNew = false
        let receipt: CommitReceipt
        do {
            receipt = try writer.commit(metadata) { isNew = try change(write, from: producer) }
        } catch let error as Rejected {
            return .rejected(error.rejection)
        } catch let error as StorageError where error.isCausedByUnrecordedRow {
            return .rejected(.invalid(HubError.unrecorded.reason))
        } catch let error as StorageError where !error.isOfTheStore {
            // A constraint, a trigger or a limit of the store.
            return .rejected(.invalid(access.reason(error)))
        } catch let error where rejectsUnfitTables && error.isCausedByTableSchema {
            return .rejected(
                .invalid(
                    "The table of \"\(write.document.entity)\" can't be written because its schema doesn't fit: another program has changed it, or it uses a function that the hub's process lacks. Retry this once the hub's operator has repaired it: storagekit verify shows what another program has changed."
                ))
        }
        known.applied(origin: write.origin)
        // A trigger may have changed the document after the write.
        guard receipt.commit != nil, let position = try lastPosition(of: write.document) else {
            return .applied(at: receipt.last)
        }
        history?.noteChange(
            of: write.document, at: position, by: producer, origin: write.origin, isNew: isNew)
        return .applied(at: position)
    }

    private func table(_ entity: String) -> HubEntityTable? {
        writer.catalog.entity(named: entity).flatMap(HubEntityTable.init)
    }
}

// MARK: One write

extension HubWriter {
    /// The state before a write.
    private struct Found {
        var key: StorageValue
        var row: (position: Int64, row: HubEntityTable.Row)?
        /// The last deletion of the document that the client could see, even if it was created again.
        var deletion: HubHistory.Deletion?
        var isVisible: Bool
    }

    /// Changes a document, as part of the current commit.
    ///
    /// - Parameter producer: The producer whose own deletions are known to it; nil for a single request.
    /// - Returns: Whether the document was created.
    /// - Throws: ``Rejected``; ``HubError/preconditionFailed``; ``HubError/outdatedCondition``; errors of the store.
    func change(
        _ write: HubWrite, from producer: ProducerID?, expecting expected: HubPrecondition? = nil
    ) throws -> Bool {
        guard access.mayWrite(write.document.entity) else {
            throw Rejected(rejection: .invalid("Writing to \"\(write.document.entity)\" isn't allowed."))
        }
        let scope = HubScope(write.document.entity, access)
        if let entity = writer.catalog.entity(named: write.document.entity) {
            try scope.checkCondition(on: entity, LogReader(writer.database), writer.catalog)
        }
        let found = try find(write.document, scope)
        try check(expected, found)
        try checkChanges(of: found, by: producer, write, scope)
        switch write.operation {
        case .delete:
            if found.isVisible { try delete(write.document, found, from: producer) }
            return false
        case .save(let values), .patch(let values):
            try put(values.texts, for: write, over: found, in: scope)
            return found.row == nil
        }
    }

    /// Rejects a write that was made without knowledge of others' changes to its document, if that matters.
    private func checkChanges(
        of found: Found, by producer: ProducerID?, _ write: HubWrite, _ scope: HubScope
    ) throws {
        if write.operation != .delete, let deletion = found.deletion, deletion.position > write.base,
            deletion.producer != producer || producer == nil
        {
            throw Rejected(rejection: .deleted)
        }
        // A write that is based on the current state needs no lookup.
        if write.operation != .delete || write.isConditional, found.isVisible, let version = found.row?.position,
            version > write.base, history?.isUnknown(write.document) ?? false
        {
            throw Rejected(rejection: .conflict(at: version))
        }
        if write.isConditional, let producer,
            let position = history?.lastChange(
                of: write.document, byOthersThan: producer, in: scope, isVisible: found.isVisible),
            position > write.base
        {
            throw Rejected(rejection: .conflict(at: position))
        }
        if case .patch = write.operation, !found.isVisible {
            throw Rejected(rejection: found.deletion == nil ? .missing : .deleted)
        }
    }

    private func delete(_ document: DocumentID, _ found: Found, from producer: ProducerID?) throws {
        guard let table = table(document.entity), let row = found.row?.row else { return }
        let position = writer.nextPosition
        // A trigger may keep the row, as one that marks it instead.
        guard try table.delete(found.key, with: writer) else { return }
        history?.note(
            HubHistory.Deletion(position: position, producer: producer, row: row, table: table), of: document)
    }

    /// The position of a document's last change in the last commit; nil if that hasn't changed it. Triggers and
    /// cascades may have changed others after it.
    private func lastPosition(of document: DocumentID) throws -> Int64? {
        if let version = try version(of: document) { return version }
        return history?.deletion(of: document)?.position
    }

    /// The position of a document's last change; nil if it doesn't exist.
    func version(of document: DocumentID) throws -> Int64? {
        guard let table = table(document.entity), let key = table.key(of: document.id) else { return nil }
        return try table.row(key, in: writer.database)?.position
    }

    private func put(
        _ patch: [String: String], for write: HubWrite, over found: Found, in scope: HubScope
    ) throws {
        let document = write.document
        if found.row != nil, !found.isVisible { throw forbidden(document) }
        do {
            try HubEntityTable.declare(document.entity, id: document.id, fields: patch, with: writer)
            guard let table = table(document.entity) else { throw HubError.notFound }
            // Read again: it may have more columns now.
            let old = try found.row.flatMap { _ in try table.row(found.key, in: writer.database)?.row }
            let isPatch = if case .patch = write.operation { true } else { false }
            let new = try table.row(found.key, patch, over: old, isPatch: isPatch)
            try table.write(new, over: old, with: writer)
            guard scope.isLimited(in: table) else { return }
            // As it is stored: defaults and triggers may have changed it. One that a trigger has moved away counts as it was sent.
            let stored = try table.row(found.key, in: writer.database)?.row
            guard scope.sees(stored ?? new, in: table) else { throw forbidden(document) }
        } catch let error as HubError {
            throw Rejected(rejection: .invalid(error.reason))
        }
    }

    private func forbidden(_ document: DocumentID) -> Rejected {
        Rejected(rejection: .invalid("Writing such a document to \"\(document.entity)\" isn't allowed."))
    }

    private func find(_ document: DocumentID, _ scope: HubScope) throws -> Found {
        guard let entity = writer.catalog.entity(named: document.entity) else {
            guard !document.id.utf8.contains(0) else {
                throw Rejected(rejection: .invalid("An id can't contain a NUL character."))
            }
            guard !document.entity.isEmpty else {
                throw Rejected(rejection: .invalid("A collection's name can't be empty. Send one."))
            }
            try checkNewId(document.id)
            return Found(key: .text(document.id), isVisible: false)
        }
        guard let table = HubEntityTable(entity) else {
            throw Rejected(rejection: .invalid(HubError(unserved: entity).reason))
        }
        guard let key = table.key(of: document.id) else {
            throw Rejected(rejection: .invalid(HubError(unserved: entity, for: document.id).reason))
        }
        // For the client, a document that it couldn't see never existed.
        let deletion = history?.deletion(of: document, in: scope)
        let row = try table.row(key, in: writer.database)
        if row == nil { try checkNewId(document.id) }
        return Found(
            key: key, row: row, deletion: deletion, isVisible: row.map { scope.sees($0.row, in: table) } ?? false)
    }

    /// Other programs may have rows whose key is an empty text; no path of a request leads to them.
    private func checkNewId(_ id: String) throws {
        guard !id.isEmpty else { throw Rejected(rejection: .invalid("A document's id can't be empty. Send one.")) }
    }

    private func check(_ expected: HubPrecondition?, _ found: Found) throws {
        let holds =
            switch expected {
            case nil: true
            case .absent: found.row == nil
            case .exists: found.isVisible
            case .versions(let versions): found.isVisible && versions.contains { $0 == found.row?.position }
            }
        guard holds else { throw HubError.preconditionFailed }
    }
}

extension HubEntityTable {
    /// The row that an event has deleted.
    func row(before deletion: StorageEvent) -> Row {
        var row = Row(key: deletion.key.first?.value ?? .null, values: columns.map(\.fallback))
        for field in deletion.old ?? [] {
            if let index = index(of: field.column) { row.values[index] = field.value }
        }
        return row
    }
}
