internal import CSQLite
internal import Foundation
internal import StorageCore

extension LogWriter {
    /// The number of captured events in the current transaction.
    package var pendingEvents: Int { storage_capture_count(capture) }

    /// The number of changes of the current transaction in tables that aren't entities, so that there are no events of them.
    package var pendingUnrecordedChanges: Int { Int(storage_capture_unrecorded_count(capture)) }

    /// The number of events that were captured before the current commit.
    var commitStart: Int { open.last?.events.upperBound ?? 0 }

    /// Requires that the log contains every earlier commit, for a body that reads it: those of the same transaction are
    /// written at its end. A commit that comes after such ones is undone, and runs again first in a transaction.
    package func requireWholeLog() throws {
        if commitStart > 0 { throw OutgrownCommit() }
    }

    /// The number of captured events of each of users' entities after the first `count`, by the entities' names.
    package func pendingChanges(after count: Int) -> [(entity: String, events: Int)] {
        let view = captured
        var counts: [UInt32: Int] = [:]
        for index in count..<max(view.count, count) { counts[view.shape(of: index).entity, default: 0] += 1 }
        return counts.filter { !CatalogEntity.isReserved($0.key) }.sorted { $0.key < $1.key }.map {
            (catalog.entity(id: $0.key)?.name ?? "", $0.value)
        }
    }

    /// The bytes of the captured texts and blobs.
    package var pendingBytes: Int { storage_capture_byte_count(capture) }

    /// Makes one commit inside a group: the changes of `body` are recorded together, or undone together if it throws.
    ///
    /// - Parameter yields: Whether to abort the commit, in favour of those before it in the group, once it has taken more than
    ///   ``Limits/groupBytes`` or ``Limits/groupMicroseconds``.
    /// - Throws: ``OutgrownCommit`` if it was aborted: its changes are undone, and it must run again first in a group.
    ///   ``GroupFailure`` if the whole group is undone.
    package func commit(
        _ metadata: CommitMetadata, at time: Int64? = nil, yields: Bool = false, _ body: () throws -> Void
    ) throws -> CommitReceipt {
        precondition(isInGroup, "commits are made inside a group")
        try metadata.validate()
        if let key = metadata.idempotencyKey, let receipt = try repeated(key) { return receipt }
        // Before any work that a refused time would waste.
        if time != nil { _ = try commitTime(time) }
        let start = storage_capture_count(capture)
        let touches = storage_capture_touch_count(capture)
        setTriggers()
        try statement(.savepoint).execute()
        tombstones.begin()
        forgetSchemaStates()
        do {
            try run(body, yields: yields)
            let receipt = try finish(metadata, at: time, from: start, touchesFrom: touches)
            try statement(.release).execute()
            // If the body has left a savepoint of the same name, that was released instead.
            guard storage_capture_depth(capture) == 0 else { throw StorageError.transactionEnded().endingTheGroup() }
            return receipt
        } catch let error as GroupFailure {
            throw error
        } catch {
            throw try undo(error, to: start)
        }
    }

    private func run(_ body: () throws -> Void, yields: Bool) throws {
        var allowance = storage_allowance(
            bytes: UInt64(Limits.groupBytes), events: UInt64(Limits.groupEvents),
            nanoseconds: Limits.groupMicroseconds * 1_000)
        if yields {
            storage_capture_begin_body(capture, &allowance)
        } else {
            storage_capture_begin_body(capture, nil)
        }
        defer { storage_capture_end_body(capture) }
        try body()
        try checkBody()
    }

    /// Checks what a commit's body has done: that its transaction is still open, and that its values and keys can be stored.
    func checkBody() throws {
        // The body may have ignored the interruption.
        guard storage_capture_outgrown(capture) == 0 else { throw OutgrownCommit() }
        guard storage_capture_ended(capture) == 0, storage_capture_released(capture) == 0 else {
            throw StorageError.transactionEnded().endingTheGroup()
        }
        try checkCapture()
    }

    /// Undoes only the current commit.
    ///
    /// - Returns: The error to rethrow.
    private func undo(_ error: any Error, to start: Int) throws -> any Error {
        let hasOutgrown = storage_capture_outgrown(capture) != 0
        let isOutOfSpaceOrMemory = [SQLITE_FULL, SQLITE_NOMEM].contains(database.errorCode & 0xFF)
        let error = classified(error)
        guard storage_capture_ended(capture) == 0, storage_capture_released(capture) == 0 else {
            if hasOutgrown { return GroupFailure(cause: error, isOutgrown: true) }
            // SQLite itself ends a transaction when the disk fails, something is full, there is no memory or a statement is
            // interrupted; otherwise the body did.
            let isOfTheStore = (error as? StorageError)?.isStoreFailure ?? false
            let isOfSQLite = isOfTheStore || isOutOfSpaceOrMemory
            return (isOfSQLite ? error : StorageError.transactionEnded(error)).endingTheGroup()
        }
        do {
            try statement(.rollback).execute()
            try statement(.release).execute()
        } catch let failure {
            try restoreConnection()
            return classified(failure).endingTheGroup()
        }
        guard storage_capture_depth(capture) == 0 else { return StorageError.transactionEnded(error).endingTheGroup() }
        guard storage_capture_count(capture) == start else {
            return StorageError.breach("capture isn't where it was before a commit that was undone").endingTheGroup()
        }
        tombstones.undo()
        try forgetCatalogChanges()
        try restoreConnection()
        return hasOutgrown ? OutgrownCommit() : error
    }

    /// Assigns the events of a commit their positions in the log.
    private func finish(
        _ metadata: CommitMetadata, at time: Int64?, from start: Int, touchesFrom firstTouch: Int
    ) throws -> CommitReceipt {
        try recordSchemaChanges()
        // Before the connection's settings are restored: turning off deferring forgets the deferred violations.
        try checkChanges()
        try checkConnection()
        let end = storage_capture_count(capture)
        try linkEvents(start..<end, touchesFrom: firstTouch)
        // A commit without events has no consequences, so an impossible clock is no reason to refuse it.
        let (time, reading) =
            end > start ? try commitTime(time) : (try? commitTime(time)) ?? (pending.time, pending.time)
        let info = CommitInfo(
            number: pending.commit + 1, time: time, clock: reading == time ? nil : reading, metadata: metadata)
        try project(start..<end, info)
        guard end > start else {
            let receipt = CommitReceipt(commit: nil, first: pending.position + 1, last: pending.position, time: time)
            try remember(metadata.idempotencyKey, receipt)
            return receipt
        }
        open.append((info, start..<end))
        let receipt = CommitReceipt(
            commit: info.number, first: pending.position + 1, last: pending.position + Int64(end - start), time: time)
        try remember(metadata.idempotencyKey, receipt)
        pending = LogHead(position: receipt.last, commit: info.number, time: time)
        return receipt
    }

    /// Applies the current commit to derived state.
    private func project(_ events: Range<Int>, _ commit: CommitInfo) throws {
        guard !projections.isEmpty else { return }
        let start = timesProjections ? ContinuousClock.now : nil
        defer { if let start { projectionTime += .now - start } }
        try asEngine {
            if changes.areUnreported {
                let renumbered = changes.renumbered
                for projection in projections { try projection.catalogChanged(renumbered: renumbered, in: self) }
            }
            guard !events.isEmpty else { return }
            let view = captured
            for projection in projections { try projection.apply(events, of: view, commit: commit, in: self) }
        }
        changes.areUnreported = false
        changes.renumbered = []
    }

    /// Checks what the current commit has changed: that its values and keys can be stored, and its deferred foreign keys, which
    /// SQLite would otherwise check at COMMIT and fail every commit of the group.
    func checkChanges() throws {
        try checkCapture()
        if hasUnresolvedReferences { throw StorageError.unresolvedReferences() }
    }

    /// Whether a deferred foreign key refers to a row that isn't there, as SQLite counts it: what changes while foreign keys are
    /// off isn't counted.
    package var hasUnresolvedReferences: Bool {
        var unresolved: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(database.handle, SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &highest, 0)
        return unresolved != 0
    }

    /// Checks that the changes of the current commit could be captured.
    package func checkCapture() throws {
        var entity: UInt32 = 0
        var column: UInt32 = 0
        let error = storage_capture_error(capture, &entity, &column)
        guard error != Int32(STORAGE_CAPTURE_OK) else { return }
        // Capture only knows that the change can't be followed.
        if error == Int32(STORAGE_CAPTURE_UNKNOWN_COLUMNS), let schemaFailure { throw schemaFailure }
        throw StorageError.capture(
            error, entity: catalog.entity(id: entity)?.name, column: catalog.column(id: column)?.name)
    }
}
