import CSQLite
import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageLog

/// One writer at a time, and no file touched that isn't a store.
@Suite struct WriterLockTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ name: String = "store.sqlite", readOnly: Bool = false) throws -> StorageEngine {
        try open(path: folder.path(name), readOnly: readOnly)
    }

    private func open(path: String, readOnly: Bool = false) throws -> StorageEngine {
        var configuration = TestStore.configuration()
        configuration.isReadOnly = readOnly
        return try .open(path: path, configuration: configuration)
    }

    private func refusal(_ path: String, readOnly: Bool = false) -> StorageError.Code? {
        do {
            _ = try open(path: path, readOnly: readOnly)
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    private func sqlite(_ name: String, _ sql: String) throws {
        let queue = try DatabaseQueue.foreign(path: folder.path(name))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test("A second writer learns who has the store")
    func secondWriter() async throws {
        let first = try open()
        let error = #expect(throws: StorageError.self) { try open() }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("\(getpid())") == true)
        #expect(error?.remedy.isEmpty == false)
        // The refused one hasn't disturbed the first.
        try await first.commit("CREATE TABLE x(y)")
        try await first.close()
    }

    @Test("The lock ends with the writer")
    func lockEndsWithWriter() async throws {
        for _ in 0..<3 {
            let engine = try open()
            try await engine.close()
            #expect(await code { try await engine.commit("SELECT 1") } == .closed)
            #expect(await code { try await engine.read { _ in } } == .closed)
        }
        // Also where the store is only let go of.
        do { _ = try open() }
        try await open().close()
    }

    /// As `doctor` does, which tests the same lock.
    @Test("Looking for the writer doesn't keep one out")
    func lookingBesideOpening() async throws {
        try await open().close()
        let path = folder.path()
        let looking = Task.detached {
            while !Task.isCancelled {
                // The writer may not have written its number yet.
                _ = try? WriterLock.holder(of: path)
                await Task.yield()
            }
        }
        defer { looking.cancel() }
        var keptOut = 0
        for _ in 0..<200 {
            do { try WriterLock(store: path).release() } catch let error as StorageError where error.code == .busy {
                keptOut += 1
            }
        }
        // On a busy machine, the other task may be stopped in the middle for longer than it is waited for. Who doesn't wait is kept out
        // each time that it is met.
        #expect(keptOut <= 2)
    }

    /// The lock of a file without a name excludes nothing: the next process would take that of a new file.
    @Test("A lock whose file is removed while it is waited for is that of a new file")
    func removedFile() async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        for _ in 0..<5 {
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
            let looking = try FileHandle(forUpdating: URL(fileURLWithPath: file))
            #expect(flock(looking.fileDescriptor, LOCK_SH) == 0)
            let waiting = Task.detached { try? WriterLock(store: path) }
            try await Task.sleep(for: .milliseconds(20))
            unlink(file)
            try looking.close()
            // On a busy machine, the time that it waits may be over.
            guard let lock = await waiting.value else { continue }
            #expect(FileManager.default.fileExists(atPath: file))
            #expect(throws: StorageError.self) { try WriterLock(store: path) }
            lock.removeFile()
            lock.release()
            #expect(try files() == [])
        }
        let last = try WriterLock(store: path)
        #expect(last.isFileNew)
        last.release()
        #expect(try !WriterLock(store: path).isFileNew)
    }

    private func attributes(_ path: String) -> (permissions: mode_t, owner: uid_t) {
        var found = stat()
        #expect(stat(path, &found) == 0)
        return (found.st_mode & 0o777, found.st_uid)
    }

    @Test("The lock has the permissions of the store, also after they change")
    func permissionsOfLock() async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        try await open().close()
        #expect(attributes(file).permissions == attributes(path).permissions)
        for permissions: mode_t in [0o666, 0o600] {
            #expect(chmod(path, permissions) == 0)
            try await open().close()
            #expect(attributes(file).permissions == permissions)
            unlink(file)
            try await open().close()
            #expect(attributes(file).permissions == permissions)
        }
    }

    /// Otherwise one command of root would keep the owner from writing.
    @Test("A lock that root creates belongs to the store's owner", .enabled(if: geteuid() == 0))
    func ownerOfLock() async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        let owner: uid_t = 65_534
        try await open().close()
        for isNew in [true, false] {
            if isNew { unlink(file) } else { #expect(chown(file, 0, 0) == 0) }
            #expect(chown(path, owner, owner) == 0)
            try await open().close()
            #expect(attributes(file).owner == owner, "new \(isNew)")
        }
    }

    @Test("A file that is too large for a lock keeps its owner and permissions")
    func largeFileAsLock() async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        try await open().close()
        try Data(count: 4_096).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o600) == 0)
        #expect(chmod(path, 0o644) == 0)
        try await open().close()
        #expect(attributes(file).permissions == 0o600)
    }

    @Test("Where the lock isn't a file, who writes is unknown", arguments: ["pipe", "link", "folder"])
    func foreignFileAsLock(_ kind: String) async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        try await open().close()
        unlink(file)
        switch kind {
        case "pipe": #expect(mkfifo(file, 0o600) == 0)
        case "link": #expect(symlink(folder.path("other"), file) == 0)
        default: #expect(mkdir(file, 0o700) == 0)
        }
        let refused = #expect(throws: StorageError.self) { try open() }
        #expect(refused?.code == .ioError)
        #expect(refused?.message.contains(file) == true)
        let unknown = #expect(throws: StorageError.self) { try WriterLock.holder(of: path) }
        #expect(unknown?.code == .ioError)
        #expect(!FileManager.default.fileExists(atPath: folder.path("other")))
    }

    @Test("Who writes is unknown to those who can't open the lock", .enabled(if: geteuid() != 0))
    func unreadableLock() async throws {
        let (path, file) = (folder.path(), folder.path("store.sqlite.lock"))
        try await open().close()
        #expect(chmod(file, 0) == 0)
        let unknown = #expect(throws: StorageError.self) { try WriterLock.holder(of: path) }
        #expect(unknown?.code == .ioError)
        #expect(unknown?.remedy.contains(file) == true)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test("A store is erased as unused only if it was opened once and has no commit")
    func unusedStore() async throws {
        let path = folder.path()
        try await open().close()
        try StorageEngine.eraseUnused(path: path)
        #expect(try files() == [])

        let busy = try open()
        #expect(throws: StorageError.self) { try StorageEngine.eraseUnused(path: path) }
        try await busy.close()
        // Another program may have created it.
        try await open().close()
        try StorageEngine.eraseUnused(path: path)
        #expect(FileManager.default.fileExists(atPath: path))

        let used = folder.path("used.sqlite")
        let engine = try open("used.sqlite")
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.close()
        try StorageEngine.eraseUnused(path: used)
        #expect(FileManager.default.fileExists(atPath: used))

        try sqlite("other.sqlite", "CREATE TABLE t(x)")
        try StorageEngine.eraseUnused(path: folder.path("other.sqlite"))
        #expect(FileManager.default.fileExists(atPath: folder.path("other.sqlite")))
    }

    /// The lock is the file's, whatever it is called.
    @Test("Another name is the same store")
    func anotherName() async throws {
        let first = try open()
        try await first.commit("CREATE TABLE x(y)")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.sqlite"), withDestinationPath: folder.path("store.sqlite"))
        try FileManager.default.createSymbolicLink(atPath: folder.path("folder"), withDestinationPath: folder.url.path)
        for name in ["link.sqlite", "folder/store.sqlite", "folder/link.sqlite", "./store.sqlite"] {
            #expect(refusal(folder.path(name)) == .busy, "\(name)")
            #expect(try WriterLock.holder(of: folder.path(name)) == Int(getpid()), "\(name)")
            let reader = try open(name, readOnly: true)
            #expect(try await reader.read { try $0.tableExists("x") })
            try await reader.close()
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("link.sqlite.lock")))
        try await first.close()
        #expect(link(folder.path("store.sqlite"), folder.path("hard.sqlite")) == 0)
        for name in ["store.sqlite", "hard.sqlite", "link.sqlite"] {
            #expect(refusal(folder.path(name)) == .invalidArgument)
            #expect(refusal(folder.path(name), readOnly: true) == .invalidArgument)
        }
        #expect(unlink(folder.path("hard.sqlite")) == 0)
        // A name that was left when the file was placed is no second name.
        #expect(link(folder.path("store.sqlite"), folder.path("store.sqlite.partial-1-0")) == 0)
        let second = try open("link.sqlite")
        #expect(try await second.integer("SELECT count(*) FROM x") == 0)
        try await second.close()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("dangling.sqlite"), withDestinationPath: folder.path("nothing.sqlite"))
        #expect(refusal(folder.path("dangling.sqlite")) == .notFound)
    }

    enum Move: CaseIterable { case away, deleted, replaced }

    @Test("A writer whose file was moved, deleted or replaced acknowledges nothing more", arguments: Move.allCases)
    func movedFile(_ move: Move) async throws {
        let engine = try open()
        try await engine.commit("CREATE TABLE x(y)")
        let (path, other) = (folder.path("store.sqlite"), folder.path("other.sqlite"))
        switch move {
        case .away: #expect(rename(path, other) == 0)
        case .deleted: #expect(unlink(path) == 0)
        case .replaced:
            try FileManager.default.copyItem(atPath: path, toPath: other)
            #expect(rename(other, path) == 0)
        }
        let error = await #expect(throws: StorageError.self) { try await engine.commit("INSERT INTO x VALUES (1)") }
        #expect(error?.code == .ioError)
        #expect(error?.message.contains("moved, deleted or replaced") == true)
        // The file may be back, but others may have written to it meanwhile.
        if move == .away { #expect(rename(other, path) == 0) }
        #expect(await code { try await engine.commit("INSERT INTO x VALUES (1)") } == .unusable)
        try await engine.close()
    }

    @Test(
        "A writer whose write-ahead log was deleted or replaced acknowledges nothing more",
        arguments: ["-wal", "-shm"],
        [Move.deleted, .replaced])
    func movedSidecar(suffix: String, move: Move) async throws {
        let engine = try open()
        try await engine.commit("CREATE TABLE x(y)")
        try await engine.commit("INSERT INTO x VALUES (1)")
        let (path, other) = (folder.path() + suffix, folder.path("other"))
        if move == .replaced {
            try FileManager.default.copyItem(atPath: path, toPath: other)
            #expect(rename(other, path) == 0)
        } else {
            #expect(unlink(path) == 0)
        }
        let error = await #expect(throws: StorageError.self) { try await engine.commit("INSERT INTO x VALUES (2)") }
        #expect(error?.code == .ioError)
        #expect(error?.message.contains("\(suffix) was moved, deleted or replaced") == true)
        #expect(await code { try await engine.commit("INSERT INTO x VALUES (2)") } == .unusable)
        // SQLite still has what was acknowledged.
        try await engine.close()
        let next = try open()
        #expect(try await next.integer("SELECT count(*) FROM x") == 1)
        try await next.close()
    }

    @Test("Readers work beside the writer")
    func readersBesideWriter() async throws {
        let writer = try open()
        try await writer.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        let reader = try open(readOnly: true)
        try await writer.commit("INSERT INTO t(id) VALUES (1)")
        #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        #expect(try await reader.read { db in try LogReader(db.connection).events().count } == 3)
        try await reader.close()
        try await writer.commit("INSERT INTO t(id) VALUES (2)")
        try await writer.close()
        // Without a writer as well.
        let later = try open(readOnly: true)
        #expect(try await later.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try await later.close()
    }

    @Test("A writer that was replaced stops")
    func replacedWriterStops() async throws {
        let engine = try open()
        try await engine.commit("CREATE TABLE x(y)")
        try sqlite("store.sqlite", "UPDATE storage_meta SET writer_epoch = writer_epoch + 1")
        #expect(await code { try await engine.commit("INSERT INTO x VALUES (1)") } == .busy)
        #expect(try await engine.integer("SELECT count(*) FROM x") == 0)
        try await engine.close()
        let next = try open()
        try await next.commit("INSERT INTO x VALUES (1)")
        try await next.close()
    }

    /// Nor does it rebuild tables, or seal.
    @Test("A writer that was replaced changes nothing")
    func replacedWriterChangesNothing() async throws {
        var configuration = TestStore.configuration(segmentLength: 8)
        configuration.sealsInBackground = false
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        for id in 0..<20 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), 'v')") }
        try sqlite("store.sqlite", "UPDATE storage_meta SET writer_epoch = writer_epoch + 1")
        let version = try await engine.integer("PRAGMA schema_version")
        #expect(await code { try await engine.seal() } == .busy)
        #expect(await code { try await Rebuild(engine).run() } == .busy)
        #expect(try await engine.integer("SELECT count(*) FROM storage_log WHERE sealed") == 0)
        #expect(try await engine.integer("PRAGMA schema_version") == version)
        try await engine.close()
    }

    @Test("Paths that aren't files")
    func invalidPaths() throws {
        #expect(refusal("file:" + folder.path()) == .invalidName)
        #expect(refusal("FILE:" + folder.path() + "?mode=memory") == .invalidName)
        #expect(refusal("") == .invalidName)
        #expect(refusal(":memory:") == .invalidName)
        #expect(refusal(folder.url.path + "/a\0b") == .invalidName)
        #expect(refusal(folder.url.path) == .notAStore)
        #expect(refusal(folder.path("none/store.sqlite")) == .notFound)
        #expect(refusal(folder.path("absent.sqlite"), readOnly: true) == .notFound)
        #expect(!FileManager.default.fileExists(atPath: folder.path("absent.sqlite")))
    }

    @Test("An empty file becomes a store")
    func emptyFile() async throws {
        try Data().write(to: URL(fileURLWithPath: folder.path()))
        #expect(refusal(folder.path(), readOnly: true) == .notAStore)
        let engine = try open()
        try await engine.commit("CREATE TABLE x(y)")
        try await engine.close()
        try await open().close()
    }

    @Test(
        "Text files are refused",
        arguments: ["hello, this is a text that is no database at all", "x", "SQLite format 3", "SQLite format 3\0"])
    func textFiles(text: String) throws {
        let file = URL(fileURLWithPath: folder.path())
        try Data(text.utf8).write(to: file)
        #expect(refusal(file.path) == .notAStore)
        #expect(refusal(file.path, readOnly: true) == .notAStore)
        #expect(try Data(contentsOf: file) == Data(text.utf8))
    }

    /// A database of somebody else must not even be switched to a write-ahead log.
    @Test("Foreign databases are refused untouched", arguments: ["DELETE", "WAL"])
    func foreignDatabases(mode: String) throws {
        try sqlite(
            "foreign.sqlite", "PRAGMA journal_mode = \(mode); CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)")
        let file = URL(fileURLWithPath: folder.path("foreign.sqlite"))
        let before = try Data(contentsOf: file)
        #expect(refusal(file.path) == .notAStore)
        #expect(refusal(file.path, readOnly: true) == .notAStore)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test("Newer formats are refused")
    func newerFormats() async throws {
        try await open().close()
        try sqlite("store.sqlite", "UPDATE storage_meta SET format = format + 1")
        #expect(refusal(folder.path()) == .unsupportedFormat)
        #expect(refusal(folder.path(), readOnly: true) == .unsupportedFormat)
        try sqlite("store.sqlite", "UPDATE storage_meta SET format = format - 1")
        try await open().close()
    }

    @Test("A store is the same after reopening")
    func reopening() async throws {
        var engine = try open()
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        let key = CommitMetadata(idempotencyKey: "k")
        let first = try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'a'), (2, 'b')", key)
        try await engine.commit("DELETE FROM t WHERE id = 2")
        let head = engine.committed
        try await engine.close()
        engine = try open()
        #expect(engine.committed == head)
        #expect(try await engine.commit("DELETE FROM t", key).last == first.last)
        try await engine.commit("INSERT INTO t(id, v) VALUES (2, 'again'); UPDATE t SET v = 'c' WHERE id = 1")
        let faults = try await engine.withWriter { writer, _ in
            var oracle = LogOracle()
            return try oracle.apply(LogReader(writer.database).events())
                + oracle.differences(writer.dump(), writer.catalog)
        }
        #expect(faults == [])
        try await engine.close()
    }

    @Test("Only files that a process has left unfinished are removed")
    func userFilesStay() throws {
        // No process has this number.
        let own = ["-30000 notes.txt", "-2024-05-01", "-99999999-0-copy", "-99999999-", "-99999999", "--1-0"]
        let left = ["", "-wal", "-shm", "-journal", ".lock", ".bell"].map { "-99999999-0\($0)" }
        for suffix in own + left {
            #expect(FileManager.default.createFile(atPath: folder.path("a.sqlite.partial\(suffix)"), contents: nil))
        }
        let found = FilePlacement.leftovers(of: folder.path("a.sqlite"))
        #expect(Set(found) == Set(left.map { folder.path("a.sqlite.partial\($0)") }))
    }
}
