#if SQLITE_ENGINE_SQLITENIO
    import CSQLite
    import Foundation
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    /// A file that says that it is a StorageKit store is read, and neither it nor what lies beside it is changed.
    @Suite(.timeLimit(.minutes(10)))
    struct StoreFileTests {
        private let interval = SQLiteConnectionConfiguration(observationInterval: .milliseconds(5))

        /// What replaces the store's writer.
        private final class Writer {
            private var database: OpaquePointer?
            private let path: String

            init(_ path: String, journal: String = "WAL") throws {
                self.path = path
                try #require(sqlite3_open(path, &database) == SQLITE_OK)
                // Readers lock the file for a moment.
                sqlite3_busy_timeout(database, 60_000)
                try run("PRAGMA journal_mode = \(journal); PRAGMA application_id = 0x53544B54")
                try run("CREATE TABLE IF NOT EXISTS t (a)")
            }

            deinit { close() }

            func run(_ sql: String) throws {
                try #require(
                    sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK,
                    "\(String(cString: sqlite3_errmsg(database)))")
            }

            func close() {
                sqlite3_close_v2(database)
                database = nil
            }
        }

        /// A writer in a process of its own, which has committed a row.
        private final class WriterProcess {
            private let process = Process()
            private let input = Pipe()

            init(_ path: String) throws {
                let output = Pipe()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = ["python3", "-c", Self.program, path]
                process.standardInput = input
                process.standardOutput = output
                try process.start()
                try #require(try output.fileHandleForReading.read(upToCount: 1) == Data("!".utf8))
            }

            private static let program = """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1], isolation_level=None)
                for sql in ("application_id = 0x53544B54", "journal_mode = WAL"): c.execute("PRAGMA " + sql)
                c.execute("CREATE TABLE t (a)")
                c.execute("INSERT INTO t VALUES (1)")
                sys.stdout.write("!")
                sys.stdout.flush()
                sys.stdin.read()
                """

            func end() {
                try? input.fileHandleForWriting.close()
                process.waitForEnd()
            }
        }

        private func store(_ folder: TemporaryFolder, journal: String = "WAL") throws {
            try Writer(folder.database, journal: journal).run("INSERT INTO t VALUES (1)")
        }

        private func bytes(_ folder: TemporaryFolder) throws -> [String: Data] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).reduce(into: [:]) {
                $0[$1] = try Data(contentsOf: URL(fileURLWithPath: folder.url.path + "/" + $1))
            }
        }

        private func open(_ folder: TemporaryFolder) async throws -> SQLiteConnection {
            try await .open(storage: .file(path: folder.database), configuration: interval)
        }

        @Test("Writing is refused with the way to do it", arguments: ["WAL", "DELETE"])
        func writingIsRefused(_ journal: String) async throws {
            let folder = try TemporaryFolder()
            try store(folder, journal: journal)
            let connection = try await open(folder)
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1])
            for sql in [
                "INSERT INTO t VALUES (2)", "DROP TABLE t", "PRAGMA user_version = 3", "PRAGMA application_id = 0",
            ] {
                do {
                    try await connection.execute(sql)
                    Issue.record("\(sql) was done")
                } catch let error as SQLiteClientError {
                    #expect(error.code == .readOnly)
                    #expect(error.remedy.contains("through the store"))
                }
            }
            await expect(.readOnly) { try await connection.transaction { _ in } }
            await expect(.readOnly) { try await connection.withTransaction { _ in } }
            #expect(
                try await connection.withTransaction(.read) { try $0.fetchAll("SELECT a FROM t", as: Int.self) } == [1])
            let pool = try await SQLiteConnectionPool.open(storage: .file(path: folder.database))
            await expect(.readOnly) { try await pool.write { db in try db.execute("INSERT INTO t VALUES (2)") } }
            #expect(try await pool.read { db in try db.fetchAll("SELECT a FROM t", as: Int.self) } == [1])
            try await pool.close()
        }

        @Test("A store is known by its log")
        func storeIsKnownByItsLog() async throws {
            let folder = try TemporaryFolder()
            let writer = try Writer(folder.database)
            #expect(!StoreFile.isStore(folder.database))
            let connection = try await open(folder)
            await expect(.readOnly) { try await connection.execute("INSERT INTO t VALUES (2)") }
            writer.close()
        }

        @Test("A store can't be attached")
        func attachingStore() async throws {
            let folder = try TemporaryFolder()
            try store(folder)
            let connection = try await SQLiteConnection.open(storage: .memory)
            await expect(.readOnly) { try await connection.execute("ATTACH '\(folder.database)' AS s") }
            await expect(.invalidArgument) {
                try await connection.execute("ATTACH 'file:\(folder.database)?mode=rw' AS s")
            }
            await expect(.invalidArgument) { try await connection.execute("ATTACH ? AS s", [folder.database]) }
            try await connection.execute(
                "ATTACH '\(folder.url.path)/other' AS s; CREATE TABLE s.t (a); DETACH s; VACUUM")
        }

        @Test("Reading a resting store creates no file")
        func readingRestingStore() async throws {
            let folder = try TemporaryFolder()
            try store(folder)
            let before = try bytes(folder)
            #expect(before.keys.sorted() == ["test.sqlite"])
            let connection = try await open(folder)
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1])
            _ = try? await connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try? await connection.execute("PRAGMA journal_mode = DELETE")
            var changes = connection.observeTables(["t"]).makeAsyncIterator()
            async let quiet = changes.next()
            // Time for the observation to look at the file.
            try await Task.sleep(for: .milliseconds(30))
            #expect(try bytes(folder) == before)
            try await connection.close()
            _ = await quiet
            #expect(try bytes(folder) == before)
        }

        @Test("Reading beside the writer changes no file")
        func readingBesideWriter() async throws {
            let folder = try TemporaryFolder()
            let writer = try WriterProcess(folder.database)
            defer { writer.end() }
            let before = try bytes(folder)
            #expect(before.count == 3)
            let connection = try await open(folder)
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1])
            _ = try? await connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            try await connection.close()
            let after = try bytes(folder)
            // The index is memory that they share: a reader notes which state it reads.
            #expect(before.keys.filter { before[$0] != after[$0] && !$0.hasSuffix("-shm") } == [])
            #expect(after.count == 3)
        }

        /// After a crash, say: log and index are there, and the process that reads opens the store for writing, too.
        @Test("A reader doesn't hinder a writer of its process")
        func readerHindersNoWriter() async throws {
            let folder = try TemporaryFolder()
            let process = try WriterProcess(folder.database)
            let connection = try await open(folder)
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1])
            process.end()
            let writer = try Writer(folder.database)
            try writer.run("INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (3)")
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1, 2, 3])
        }

        @Test("A log without an index is left alone")
        func logWithoutIndex() async throws {
            let folder = try TemporaryFolder()
            let process = try WriterProcess(folder.database)
            let copy = try TemporaryFolder()
            for name in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.database + name, toPath: copy.database + name)
            }
            process.end()
            #expect(StoreFile.isStore(copy.database))
            let before = try bytes(copy)
            await expect(.busy) {
                try await SQLiteConnection.open(
                    storage: .file(path: copy.database), configuration: .init(busyTimeout: .milliseconds(20)))
            }
            #expect(try bytes(copy) == before)
        }

        @Test("A writer may come and go")
        func repeatedWriters() async throws {
            let folder = try TemporaryFolder()
            try store(folder)
            let connection = try await open(folder)
            #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [1])
            for count in 2...6 {
                let writer = try Writer(folder.database)
                try writer.run("INSERT INTO t VALUES (\(count))")
                #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [count])
                if count.isMultiple(of: 2) { try writer.run("PRAGMA wal_checkpoint(TRUNCATE)") }
                writer.close()
                #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [count])
            }
            try await connection.close()
        }

        /// Pages that change under a connection that takes the file for resting must not come out as rows.
        @Test("A store that is disturbed while it is read is read again")
        func disturbedReadIsRepeated() async throws {
            let folder = try TemporaryFolder()
            try store(folder)
            let connection = try await open(folder)
            let path = folder.database
            await expect(.busy) {
                try await connection.transaction(.read) { connection in
                    #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [1])
                    let writer = try Writer(path)
                    try writer.run("INSERT INTO t VALUES (2); PRAGMA wal_checkpoint(TRUNCATE)")
                    writer.close()
                }
            }
            #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [2])
        }

        @Test("Commits of the writer are noticed without a bell", arguments: ["WAL", "DELETE"])
        func commitsWithoutBell(_ journal: String) async throws {
            let folder = try TemporaryFolder()
            try store(folder, journal: journal)
            let connection = try await open(folder)
            var changes = connection.observeTables(["t"]).makeAsyncIterator()
            for number in 2..<6 {
                let writer = try Writer(folder.database, journal: journal)
                try writer.run("INSERT INTO t VALUES (\(number))")
                #expect(await changes.next() == ["t"])
            }
        }

        @Test("The bell is heard")
        func bellIsHeard() async throws {
            guard storage_bell_is_supported() != 0 else { return }
            let folder = try TemporaryFolder()
            let writer = try Writer(folder.database)
            let bell = folder.database + ".bell"
            try Data(count: 32).write(to: URL(fileURLWithPath: bell))
            let descriptor = Foundation.open(bell, O_RDWR)
            let memory = try #require(mmap(nil, 4, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0))
            defer {
                munmap(memory, 4)
                close(descriptor)
            }
            // Looks so rarely that only the bell can tell in time.
            let connection = try await SQLiteConnection.open(
                storage: .file(path: folder.database), configuration: .init(observationInterval: .seconds(600)))
            var changes = connection.observeTables(["t"]).makeAsyncIterator()
            for number in 0..<20 {
                try writer.run("INSERT INTO t VALUES (\(number))")
                storage_bell_ring(memory.assumingMemoryBound(to: UInt32.self))
                #expect(await changes.next() == ["t"])
            }
            try await connection.close()
            #expect(try Data(contentsOf: URL(fileURLWithPath: bell)).count == 32)
        }

        @Test("Looking at a file releases no locks")
        func lookingKeepsLocks() async throws {
            let folder = try TemporaryFolder()
            // Locks of the process on the file, of another connection to it.
            let writer = try Writer(folder.database, journal: "DELETE")
            try writer.run("BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)")
            #expect(StoreFile.isStore(folder.database))
            let look = Process()
            look.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            look.arguments = [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0); c.execute('SELECT * FROM t')",
                folder.database,
            ]
            look.standardError = FileHandle.nullDevice
            guard FileManager.default.isExecutableFile(atPath: "/usr/bin/python3") else { return }
            try look.start()
            look.waitForEnd()
            #expect(look.terminationStatus == 1)
            try writer.run("COMMIT")
        }
    }
#endif
