internal import CSQLite
internal import Foundation
package import GRDB
package import StorageCore

extension StorageEngine {
    /// Creates the derived state that is part of every commit, after rebuilding tables that are missing.
    package typealias InlineProjectionMaker = @Sendable (LogWriter, GRDB.Database) throws -> [any InlineProjection]

    /// Opens the store at a path, or creates one there.
    ///
    /// - Parameter makeProjections: Called on the writer's queue if the store is opened for writing.
    /// - Throws: `busy` if another process writes to it, `not-a-store` for a file of another program, `unsupported-format` for
    ///   one from a newer version, `corrupt` if acknowledged commits or events that other tables know are missing, `conflict` if
    ///   the file is missing and its write-ahead log isn't: nothing is changed then.
    package static func open(
        path: String, configuration: StorageConfig, makeProjections: InlineProjectionMaker = { _, _ in [] }
    ) throws -> StorageEngine {
        storage_configure_process()
        let path = try StoreFileCheck.validated(path)
        if configuration.isReadOnly {
            try StoreFileCheck.checkExists(path)
            return try openReadOnly(path: path, configuration: configuration)
        }
        if !configuration.takesOver { try StoreFileCheck.checkIsDatabase(path) }
        let lock = try WriterLock(store: path)
        // Checked under the lock, so that no other process creates it meanwhile.
        try StoreFileCheck.checkIsNotLost(path)
        let isNew = !FileManager.default.fileExists(atPath: path)
        let isStore = !isNew && !configuration.takesOver
        let end = isStore ? AcknowledgedEnd(store: path) : AcknowledgedEnd(ofNew: path)
        let hasLost = try isStore && end.checkBeforeWriting()
        do {
            let pool = try GRDB.DatabasePool.opening(path: path, configuration: configuration)
            let doorbell = Doorbell.making(besideStore: path, durability: configuration.durability)
            if configuration.durability == .normal { end.announceNormalDurability(by: doorbell, hasLost: hasLost) }
            let engine = try withWriter(
                of: pool, path: path, configuration: configuration, lock: lock, doorbell: doorbell, makeProjections)
            // Remains of lost commits after the end of the write-ahead log would later be mistaken for damage.
            if hasLost { try engine.withWriterNow { writer, db in try writer.checkpoint(db) } }
            doorbell?.acknowledge(engine.committed.position)
            return engine
        } catch let error as StorageError where isNew && error.isOfTheMachine {
            removeUnfinished(path, lock)
            throw error
        }
    }

    /// Whether opening a path for writing would create a store there, because there is no file, or one without tables.
    ///
    /// - Throws: What opening it throws for a path that can't be that of a store, for what is left of a lost one, and while another writer
    ///   has it open.
    package static func wouldCreate(path: String) throws -> Bool {
        let path = try StoreFileCheck.validated(path)
        // The lock itself would leave a file.
        try WriterLock.check(isFree: path)
        try StoreFileCheck.checkIsNotLost(path)
        var found = stat()
        // Where opening fails, it has the right error.
        guard access((path as NSString).deletingLastPathComponent, W_OK | X_OK) == 0 else { return false }
        guard stat(path, &found) == 0 else { return errno == ENOENT }
        guard access(path, W_OK) == 0,
            found.st_size == 0 || (try? DatabaseFile(path, .reading).with(StoreFormat.isEmpty)) == true
        else { return false }
        // Its commits may have been in a write-ahead log that is lost.
        _ = try AcknowledgedEnd(store: path).checkBeforeWriting()
        return true
    }

    /// The files of a store, without the lock.
    private static let fileSuffixes = ["", "-wal", "-shm", "-journal", ".bell"]

    /// Removes the files of a creation for which the disk had no room: some programs would treat an empty database as a new store
    /// and others wouldn't. Once the file has the tables of a store, it is one and stays.
    private static func removeUnfinished(_ path: String, _ lock: WriterLock) {
        let isStore = (try? DatabaseFile(path, .reading).with(StoreFormat.isStore)) ?? false
        guard !isStore else { return }
        for suffix in fileSuffixes { unlink(path + suffix) }
        lock.removeFile()
    }

    /// Deletes a store with its history. It must not be open for writing.
    package static func erase(path: String) throws {
        let path = try StoreFileCheck.validated(path)
        let lock = try WriterLock(store: path)
        defer { lock.release() }
        for suffix in fileSuffixes {
            guard unlink(path + suffix) == 0 || errno == ENOENT else {
                throw StorageError(
                    .ioError, "\(path + suffix) can't be removed: \(String(cString: strerror(errno))).",
                    remedy: "Check the permissions of the folder.")
            }
        }
        ProjectionRebuildFile.removeAll(besides: path)
    }

    /// Deletes a store that was only created, with all its files: it has no commit, and was opened for writing once. For a command
    /// that has created it and then failed.
    ///
    /// - Throws: `busy` if another writer has it open.
    package static func eraseUnused(path: String) throws {
        let path = try StoreFileCheck.validated(path)
        let lock = try WriterLock(store: path)
        defer { lock.release() }
        guard try DatabaseFile(path, .reading).with(isUnused) else { return }
        for suffix in fileSuffixes { unlink(path + suffix) }
        lock.removeFile()
    }

    private static func isUnused(_ connection: Connection) throws -> Bool {
        guard try StoreFormat.isStore(connection) else { return false }
        let select = try PreparedStatement(connection, "SELECT writer_epoch FROM storage_meta")
        return try select.step() && select.integer(0) == 1 && LogHead.load(connection).position == 0
    }

    private static let memoryPath = ":memory:"

    /// Whether the store is a file, which may have others beside it.
    package var isFile: Bool { path != Self.memoryPath }

    /// Opens a store in memory, which is discarded when it is closed.
    package static func openInMemory(
        configuration: StorageConfig, makeProjections: InlineProjectionMaker = { _, _ in [] }
    ) throws -> StorageEngine {
        let queue = try GRDB.DatabaseQueue(configuration: .storage(configuration))
        return try withWriter(
            of: queue, path: memoryPath, configuration: configuration, lock: nil, doorbell: nil, makeProjections)
    }

    private static func withWriter(
        of pool: any GRDB.DatabaseWriter, path: String, configuration: StorageConfig, lock: WriterLock?,
        doorbell: Doorbell?, _ makeProjections: InlineProjectionMaker
    ) throws -> StorageEngine {
        do {
            // Sound as `nonisolated(unsafe)`: set by the block, for whose end this thread waits, and passed to the engine, which
            // isn't shared yet and uses it only on the block's queue.
            nonisolated(unsafe) var writer: LogWriter?
            var opened = configuration
            opened.epoch = try pool.writeWithoutTransaction { db in
                let connection = try db.connection
                let epoch = try prepareStore(db, connection, configuration: configuration)
                var configuration = configuration
                configuration.epoch = epoch
                writer = try makeWriter(
                    db, connection, configuration: configuration, doorbell: doorbell, projections: makeProjections)
                return epoch
            }
            return StorageEngine(path: path, configuration: opened, pool: pool, lock: lock, writer: writer)
        } catch {
            throw StorageError.opening(path, error)
        }
    }

    private static func makeWriter(
        _ db: GRDB.Database, _ connection: Connection, configuration: StorageConfig, doorbell: Doorbell?,
        projections makeProjections: InlineProjectionMaker
    ) throws -> LogWriter {
        // No file beside the store can be part of a commit, and no statement may write to SQLite's own tables or to the shadow
        // tables of full-text indexes.
        connection.refuseAttachments()
        storage_set_defensive(connection.handle, 1)
        let writer = try LogWriter(database: connection, configuration: configuration, doorbell: doorbell)
        try writer.watchSchema(toleratesLoss: true)
        try writer.install(makeProjections(writer, db))
        if let missing = writer.missingEntities.first {
            throw StorageError.corruptLog("the table of entity \"\(missing.name)\" is missing")
        }
        return writer
    }

    private static func openReadOnly(path: String, configuration: StorageConfig) throws -> StorageEngine {
        do {
            let pool = try GRDB.DatabasePool(path: path, configuration: .storage(configuration))
            let head = try pool.read { db in
                let connection = try db.connection
                try StoreFormat.check(connection)
                return try soundHead(connection)
            }
            return StorageEngine(
                path: path, configuration: configuration, pool: pool, lock: nil, writer: nil, head: head)
        } catch let error as DatabaseError
            where [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode) && access(path, R_OK) == 0
        {
            throw StorageError(
                .readOnly,
                "\(path) can't be read where nothing can be written: SQLite makes a file \(path)-shm beside it.",
                remedy: "Copy it into a folder that can be written to, or allow writing there.", cause: error)
        } catch {
            let error = StorageError.opening(path, error)
            // The tables that mark the file as a store may lie after damage in its write-ahead log, or have been lost with it.
            guard (error as? StorageError)?.code == .notAStore,
                let loss = try AcknowledgedEnd(store: path).lossOfTables()
            else { throw error }
            throw StorageError(loss)
        }
    }

    /// The end of the log. A store whose last segment is invalid can be opened for reading, so that it can be inspected: reading
    /// the log reports the error.
    private static func soundHead(_ connection: Connection) throws -> LogHead {
        do {
            return try LogHead.load(connection)
        } catch let error as StorageError where error.code == .corrupt {
            return LogHead()
        }
    }

    /// Creates the engine's tables in a new file, or checks those of an existing one; increments the writer epoch.
    private static func prepareStore(
        _ db: GRDB.Database, _ connection: Connection, configuration: StorageConfig
    ) throws -> Int64 {
        // GRDB's pool has set NORMAL at this point.
        let level = configuration.durability == .full ? 2 : 1
        try PreparedStatement(connection, "PRAGMA synchronous = \(level)").execute()
        // Room for the pages of a large commit, so that they aren't written before it ends; and checkpoints that are rare enough
        // for pages that change often.
        try PreparedStatement(connection, "PRAGMA cache_size = -\(configuration.writerCacheKilobytes)").execute()
        try PreparedStatement(connection, "PRAGMA wal_autocheckpoint = \(Limits.checkpointPages)").execute()
        // Truncates a write-ahead log that grew during a long read, once it restarts from its beginning.
        try PreparedStatement(connection, "PRAGMA journal_size_limit = \(64 << 20)").execute()
        let read = try PreparedStatement(connection, "PRAGMA synchronous")
        guard try read.step(), read.integer(0) == level else {
            throw StorageError.sqlite(code: SQLITE_ERROR, message: "the durability can't be set", sql: nil)
        }
        read.reset()
        var epoch: Int64 = 0
        try db.inTransaction(.immediate) {
            let isNew = try StoreFormat.isEmpty(connection)
            if try isNew || (configuration.takesOver && !StoreFormat.isStore(connection)) {
                for object in StoreSchema.objects { try PreparedStatement(connection, object.sql).execute() }
                try PreparedStatement(connection, "INSERT INTO storage_meta VALUES (1, ?, 0, 0, 0, 1, 0)").run(
                    StoreSchema.formatVersion)
                try StoreLineage.begin(after: 0, in: connection)
                try PreparedStatement(connection, "PRAGMA application_id = \(StoreSchema.applicationId)").execute()
            }
            try StoreFormat.check(connection, forWriting: true)
            try StoreFormat.checkObjects(connection)
            try LogCompleteness.checkEnd(connection)
            try PreparedStatement(connection, "UPDATE storage_meta SET writer_epoch = writer_epoch + 1").execute()
            let select = try PreparedStatement(connection, "SELECT writer_epoch FROM storage_meta")
            if try select.step() { epoch = select.integer(0) }
            return .commit
        }
        return epoch
    }
}

extension GRDB.DatabasePool {
    /// Opens a pool; its writer may be the first connection to the file.
    fileprivate static func opening(path: String, configuration: StorageConfig) throws -> GRDB.DatabasePool {
        do {
            return try GRDB.DatabasePool(path: path, configuration: .storage(configuration))
        } catch {
            throw StorageError.opening(path, error)
        }
    }
}

extension GRDB.Configuration {
    fileprivate static func storage(_ storage: StorageConfig) -> GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit"
        configuration.readonly = storage.isReadOnly
        // SQLite counts milliseconds in 32 bits.
        let longest = Double(Int32.max / 1_000)
        configuration.busyMode = .timeout(min(max(storage.busyTimeout / .seconds(1), 0), longest))
        // Background sealing reads beside them, one run of segments at a time, and so do live queries that begin.
        configuration.maximumReaderCount =
            max(storage.readerCount, 1) + max(storage.longReaderCount, 1) + StorageEngine.firstReaderCount + 1
        configuration.prepareDatabase { db in
            let connection = try db.connection
            // Only the writer may checkpoint; a reader that closes last must not.
            if db.configuration.readonly {
                storage_disable_checkpoint_on_close(connection.handle)
                try ReadGuard.prepare(connection)
            }
            // Deleted content isn't zeroed: history is kept on purpose.
            try connection.execute("PRAGMA secure_delete = OFF; PRAGMA cell_size_check = ON")
        }
        return configuration
    }
}
