internal import CSQLite
internal import Foundation
package import GRDB
package import StorageCore

/// The only way in which the writer connection changes the file.
///
/// Invariants, checked in release builds as well. A breach undoes the transaction, except for the last one, and makes the store
/// unusable:
///
/// 1. No row was changed between two transactions: capture is empty when one begins, and its hook is in place.
/// 2. There is no second writer: the file's epoch and the end of its log are the ones this writer knows.
/// 3. The file is the one that others open by its path, and so are its write-ahead log and the index of that.
/// 4. The commits of a transaction cover the captured events without a gap, from the first to the last.
/// 5. Nothing was captured between COMMIT and the moment when observers get the events.
///
/// ``commit(_:at:yields:_:)`` adds one of its own: after a commit was undone, capture is where it was before its body.
extension LogWriter {
    /// Runs one SQLite transaction: when this returns or throws, it is durable or completely undone. Outside of it the connection
    /// is barred from writing.
    ///
    /// - Parameter committed: Called once the transaction is durable, while the captured events are still there.
    private func transaction<Result>(
        _ db: GRDB.Database, committed: () throws -> Void = {}, _ body: () throws -> Result
    ) throws -> Result {
        // Before the trace is set again: statements after the last transaction may have run unseen.
        do { _ = try schemaVersion() } catch { throw classified(error) }
        guard storage_capture_begin(capture) == 1 else {
            storage_capture_end(capture)
            throw StorageError.unhooked()
        }
        defer { storage_capture_end(capture) }
        do {
            guard storage_capture_count(capture) == 0 else {
                throw StorageError.breach("rows were changed between two transactions")
            }
            setTriggers()
            try reclaimConnection()
            let start = ContinuousClock.now
            try db.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
            let locked = ContinuousClock.now
            try statement(.sentinel).execute()
            try checkFile()
            try noteForeignWrites()
            let result = try body()
            guard storage_capture_take_hook(capture) == 1 else { throw StorageError.unhooked() }
            storage_capture_set_logged(capture, 1)
            let end = ContinuousClock.now
            let checkpointed = checkpoints.duration
            try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
            noteOwnWrites()
            lastTransaction = TransactionTiming(
                lock: locked - start, disk: ContinuousClock.now - end, checkpoint: checkpoints.duration - checkpointed)
            try committed()
            storage_capture_reset(capture)
            reconnectIfWanted()
            return result
        } catch {
            let error = classified(error)
            // It may have read what is undone now.
            foreignWrites.reader = nil
            // The original error is the relevant one; a rollback can fail only if SQLite has already rolled back by itself.
            if db.isInsideTransaction { try? db.rollback() }
            storage_capture_reset(capture)
            throw error
        }
    }

    /// Reconnects virtual tables once the current transaction is durable, so that they free the memory that they have
    /// accumulated. SQLite then reads the schema again and prepares each statement again when it is run next: half a millisecond
    /// in a store of one entity.
    package func reconnectVirtualTables() { reconnectsVirtualTables = true }

    private func reconnectIfWanted() {
        guard reconnectsVirtualTables else { return }
        reconnectsVirtualTables = false
        // The transaction is durable either way: if this fails, the tables stay connected.
        try? PreparedStatement(database, "PRAGMA writable_schema = RESET").execute()
    }

    /// Runs one SQLite transaction that holds any number of commits. Each is recorded completely or not at all.
    ///
    /// - Parameters:
    ///   - sealing: Whether the group is a part of an import: windows that it fills get their final form at once, and nothing in it
    ///     reads the history of rows, so that tombstones are written once, at its end.
    ///   - rings: Whether to wake followers of the store before returning; if not, call ``ring()``.
    package func group<Result>(
        _ db: GRDB.Database, sealing: Bool = false, rings: Bool = true, _ body: () throws -> Result
    ) throws -> Result {
        isInGroup = true
        defersTombstones = sealing
        defer {
            isInGroup = false
            tombstones.removeAll()
        }
        do {
            return try transaction(db, committed: { try publish(rings: rings) }) {
                open.removeAll(keepingCapacity: true)
                pending = head
                attachRequestedColumns()
                let result = try body()
                try writeTombstones()
                try appendOpenCommits(sealing: sealing)
                try checkHeader()
                if writeGuard.isOn, try keepWriteGuard() { try schemaChanged() }
                return result
            }
        } catch {
            writeGuard.keptVersion = -1
            // The rollback has undone what this transaction sealed.
            sealedThrough = nil
            try forgetCatalogChanges()
            catalogIsDirty = false
            throw error
        }
    }

    /// Runs a transaction in which derived tables may be recreated. Nothing is captured, and the resulting schema is adopted as
    /// it is: the caller guarantees that the tables match the log.
    ///
    /// - Parameter changesSchema: Whether `body` creates, drops or renames tables, rather than only filling them.
    package func maintenance<Result>(
        _ db: GRDB.Database, changesSchema: Bool = true, _ body: () throws -> Result
    ) throws -> Result {
        do {
            let result = try transaction(db) {
                let result = try asEngine(body)
                if changesSchema {
                    _ = try keepWriteGuard()
                    try watchSchema()
                    for projection in projections { try projection.reload(from: self) }
                }
                return result
            }
            if changesSchema { storage_capture_take_schema_suspicion(capture) }
            return result
        } catch {
            writeGuard.keptVersion = -1
            if changesSchema {
                // The suspected schema changes of a projection's statements were rolled back.
                storage_capture_take_schema_suspicion(capture)
                catalogIsDirty = true
                try forgetCatalogChanges()
                catalogIsDirty = false
            }
            throw error
        }
    }

    /// Copies as much of the write-ahead log into the file as possible, and truncates it if it has no readers.
    package func checkpoint(_ db: GRDB.Database) throws {
        storage_capture_begin(capture)
        defer { storage_capture_end(capture) }
        try db.checkpoint(.truncate)
    }

    private func publish(rings: Bool) throws {
        guard captured.count == commitStart else {
            throw StorageError.breach("rows were changed behind the end of a transaction", isUndone: false)
        }
        head = pending
        catalogIsDirty = false
        signals.note(lastTransaction, commits: open.count, events: captured.count, pages: checkpoints.pagesNow)
        if !open.isEmpty { doorbell?.acknowledge(head.position) }
        if !observers.isEmpty, !open.isEmpty { observers.notify(committedEvents) }
        if rings { ring() }
        for projection in projections { projection.committed(in: self) }
    }

    /// The second and the third invariant.
    private func checkFile() throws {
        guard !database.fileHasMoved else { throw StorageError.fileMoved(database.path) }
        for file in sidecars where file.hasMoved { throw StorageError.sidecarMoved(file.path) }
        let select = try statement(.fileCheck)
        defer { select.reset() }
        guard try select.step(), select.integer(0) == configuration.epoch else {
            throw StorageError(
                .busy, "Another process has become the writer of this store.",
                remedy: "Close this store and open it again after the other process has closed it.")
        }
        guard select.integer(1) == head.position else {
            throw StorageError.breach(
                "the log ends at @\(select.integer(1)), and this writer last wrote @\(head.position)")
        }
        // SQLite prepares it again after each change of the schema, also by another program.
        let preparations = sqlite3_stmt_status(select.pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
        guard preparations != guarded.firstPreparations else { return }
        try followOtherPrograms()
        guarded.firstPreparations = preparations
    }

    /// Marks an error that came from the store's own file. The error's code isn't enough, because a commit's body can throw
    /// any error; the writer's connection reports the result of its own last call.
    func classified(_ error: any Error) -> any Error {
        let wrapped = StorageError.wrapping(error)
        guard var known = wrapped as? StorageError, [.ioError, .corrupt].contains(known.code) else {
            return wrapped
        }
        // Mostly a program has changed it; if its pages are damaged, those of the log needn't be, and a rebuild needs a store that
        // can be used.
        guard !known.isOfVirtualTable else { return known }
        switch database.errorCode & 0xFF {
        case SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB: known.isStoreFailure = true
        case SQLITE_FULL:
            guard !hasRoom() else { return StorageError.fullWithRoom(known) }
            known.isStoreFailure = true
        default: break
        }
        return known
    }

    /// Whether the store's file could have grown. SQLite also reports "full" for an AUTOINCREMENT table that has used the largest
    /// rowid, and for a disk that holds only temporary files.
    private func hasRoom() -> Bool {
        // The limit that the engine has set, rather than one that a body has set.
        let limit = guarded.settings.first { $0.name == "main.max_page_count" }.flatMap { Int64($0.value) }
        if let limit, let pages = try? pragma("page_count"), let size = try? pragma("page_size") {
            guard (limit - pages) * size >= Self.leastRoom else { return false }
        }
        var disk = statvfs()
        guard let path = database.path else { return true }
        guard statvfs(path, &disk) == 0 else { return false }
        return Double(disk.f_bavail) * Double(disk.f_frsize) >= Double(Self.leastRoom)
    }

    /// A disk that refuses a page has less room than one, but by the time of the check a temporary file may be gone, and some
    /// file systems refuse before they are full. If the disk is wrongly assumed full, the store has to be opened again; in the
    /// opposite case each commit fails by itself.
    private static let leastRoom: Int64 = 16 << 20

    func pragma(_ name: String) throws -> Int64 {
        let select = try statement("PRAGMA main.\(name)")
        defer { select.reset() }
        return try select.step() ? select.integer(0) : 0
    }
}

// MARK: Following

extension LogWriter {
    /// Wakes followers of the store, in this and in other processes.
    func ring() {
        observers.ring()
        // An asynchronous projection changes its tables without a commit.
        if !open.isEmpty || hasRunProjection { doorbell?.ring() }
        hasRunProjection = false
    }

    /// The events of the transaction that has just become durable, lent.
    private var committedEvents: CommittedEvents {
        let view = captured
        return CommittedEvents(
            view: view, first: head.position - Int64(view.count) + 1, commits: open, catalog: catalog,
            attached: attached)
    }

    /// What was attached to the captured events; valid until the next change is captured.
    var attached: AuxiliaryValues {
        AuxiliaryValues(
            values: UnsafeBufferPointer(
                start: storage_capture_attachments(capture), count: storage_capture_attachment_count(capture)),
            bytes: storage_capture_attached_bytes(capture))
    }

    /// Makes capture attach the columns that observers request to updates.
    private func attachRequestedColumns() {
        guard let columns = observers.requestedColumns.all(since: &requestedVersion) else { return }
        columns.withUnsafeBufferPointer { storage_capture_attach(capture, $0.baseAddress, $0.count) }
    }
}

extension StorageError {
    fileprivate static func fullWithRoom(_ cause: StorageError) -> StorageError {
        StorageError(
            .limitExceeded,
            "SQLite reports a full database, but the store's disk isn't full: a table with AUTOINCREMENT has used the largest rowid, or the disk of the temporary files is full.",
            remedy: "Assign the table's rowids yourself, or free space for temporary files (SQLITE_TMPDIR).",
            cause: cause)
    }

    fileprivate static func unhooked() -> StorageError { breach("the hook that captures changes was replaced") }

    /// An error for an internal check that failed.
    package static func breach(_ what: String, isUndone: Bool = true) -> StorageError {
        var error = StorageError(
            .unusable,
            "The store failed a check of its own: \(what). "
                + (isUndone ? "Nothing of this transaction was kept." : "What was committed before is kept."),
            remedy: "Open the store again, run `storagekit verify`, and report this.")
        error.isStoreFailure = true
        return error
    }
}
