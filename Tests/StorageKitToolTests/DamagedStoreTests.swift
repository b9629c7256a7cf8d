import Foundation
import GRDB
import StorageCore
import StorageKit
import StorageLog
import TestSupport
import Testing

/// What every command says of a store that can't be opened as one.
struct DamagedStoreTests {
    private static let commands = [
        ["log"], ["history", "posts/b"], ["stats"], ["at", "head", "SELECT 1"], ["sql", "SELECT 1"], ["undo", "--yes"],
        ["rebuild"], ["verify"], ["doctor"],
    ]

    private func status(_ command: [String], _ path: String) throws -> (Int32, String) {
        let outcome = try ToolProcess.run(command, store: path)
        return (outcome.status, outcome.errors + outcome.output)
    }

    /// - Parameter place: Where bytes are overwritten: those that every SQLite file begins with, or the first page's tree.
    @Test("Damage at the root is recognised", arguments: [0..<16, 100..<180])
    func damageAtRoot(_ place: Range<Int>) async throws {
        let store = try await SampleStore()
        let sound = FileManager.default.contents(atPath: store.path) ?? Data()
        var bytes = sound
        for index in place { bytes[index] = 0xA5 }
        let path = store.folder.path("damaged.sqlite")
        try bytes.write(to: URL(fileURLWithPath: path))
        for command in Self.commands {
            let (status, text) = try status(command, path)
            #expect(status == 5, "\(command): \(text)")
        }
        #expect(FileManager.default.contents(atPath: path) == bytes)
    }

    // MARK: Free pages

    /// Gives a store free pages, and a table with an index that uses what no process but this one has.
    ///
    /// - Returns: The first page of the table `posts`.
    private func makeFreePages(in path: String, index: String) throws -> UInt32 {
        let queue = try DatabaseQueue(path: path)
        let page = try queue.inDatabase { db in
            db.add(function: DatabaseFunction("initials", argumentCount: 1, pure: true) { $0[0] })
            db.add(
                collation: DatabaseCollation("BYNAME") {
                    $0 == $1 ? .orderedSame : $0 < $1 ? .orderedAscending : .orderedDescending
                })
            try db.execute(
                sql: """
                    CREATE TABLE foreigners(id INTEGER PRIMARY KEY, n TEXT); CREATE INDEX i ON foreigners(\(index));
                    CREATE TABLE filler(n); INSERT INTO filler VALUES (zeroblob(200000)); DROP TABLE filler
                    """)
            return try UInt32.fetchOne(db, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'posts'")
        }
        try queue.close()
        return try #require(page)
    }

    private func number(_ bytes: Data, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    private func set(_ number: UInt32, in bytes: inout Data, at offset: Int) {
        withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }

    /// SQLite would give the page to the next rows, and destroy the table that begins there.
    @Test(
        "A page of a table that is listed as free is damage, also if a function isn't registered",
        arguments: ["initials(n)", "id) WHERE (initials(n) <> ''"])
    func freePageInUse(index: String) async throws {
        let store = try await SampleStore()
        let page = try makeFreePages(in: store.path, index: index)
        let (before, sound) = try status(["verify"], store.path)
        #expect(before == 0, "\(sound)")
        #expect(!sound.contains("its pages"), "\(sound)")
        #expect(sound.contains("foreigners: its indexes and constraints weren't verified"), "\(sound)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store.path))
        // The size of a page, and the first page of the list, are numbers of the file's header (https://sqlite.org/fileformat.html).
        let list = (number(bytes, at: 32) - 1) * (number(bytes, at: 16) >> 16)
        try #require(list > 0 && number(bytes, at: list + 4) > 0)
        set(page, in: &bytes, at: list + 8)
        try bytes.write(to: URL(fileURLWithPath: store.path))
        let (verified, text) = try status(["verify"], store.path)
        #expect(verified == 5, "\(text)")
        #expect(text.contains("2nd reference to page"), "\(text)")
        let (checked, words) = try status(["doctor"], store.path)
        #expect(checked != 0, "\(words)")
        let copy = store.folder.path("copy")
        let (copied, answer) = try status(["backup", copy], store.path)
        #expect(copied == 5, "\(answer)")
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    /// Without the collation SQLite refuses every check of the whole file.
    @Test("Pages that can't be checked together are a warning, and the list of free pages is still checked")
    func uncheckedPages() async throws {
        let store = try await SampleStore()
        _ = try makeFreePages(in: store.path, index: "n COLLATE BYNAME")
        let warning = "file: its pages weren't verified as a whole: the collation BYNAME isn't registered"
        let (before, sound) = try status(["verify"], store.path)
        #expect(before == 0, "\(sound)")
        #expect(sound.contains("? \(warning)"), "\(sound)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store.path))
        set(UInt32(number(bytes, at: 36) + 1), in: &bytes, at: 36)
        try bytes.write(to: URL(fileURLWithPath: store.path))
        let (verified, text) = try status(["verify"], store.path)
        #expect(verified == 5, "\(text)")
        #expect(text.contains(": size is"), "\(text)")
    }

    // MARK: Write-ahead log

    /// One bit in the first frame of a write-ahead log that holds thirty commits, as it is after a kill. SQLite would end the log
    /// there, and the next writer would overwrite what is behind.
    @Test("A flipped bit in the write-ahead log loses nothing", arguments: [32 + 24 + 100, 3])
    func bitFlipInWAL(_ place: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try await SampleStore()
        let engine = try SampleStore.open(store.path)
        for number in 0..<30 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO posts(id) VALUES (?)", arguments: ["new-\(number)"])
            }
        }
        let path = folder.path()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: path + suffix)
        }
        try await engine.close()
        var log = try #require(FileManager.default.contents(atPath: path + "-wal"))
        log[place] ^= 1
        try log.write(to: URL(fileURLWithPath: path + "-wal"))
        let main = FileManager.default.contents(atPath: path)
        let (status, text) = try status(["verify"], path)
        #expect(status == 5, "\(text)")
        #expect(text.contains("-wal is damaged"), "\(text)")
        #expect(text.contains("DAMAGED: 1 finding"), "\(text)")
        for command in [
            ["undo", "--yes"], ["doctor"], ["doctor", "--fix", "--yes"], ["backup", folder.path("copy")],
        ] {
            let (status, text) = try self.status(command, path)
            #expect(status == 5, "\(command): \(text)")
            #expect(text.contains("-wal is damaged"), "\(command): \(text)")
        }
        #expect(FileManager.default.contents(atPath: path) == main)
        #expect(FileManager.default.contents(atPath: path + "-wal") == log)
        // The way on that the message names.
        let (refused, advice) = try self.status(["restore", path, "-o", folder.path("restored")], path)
        #expect(refused == 5, "\(advice)")
        let point = try #require(advice.firstMatch(of: /--to (@\d+) -o NEW/)?.1)
        let (restored, words) = try self.status(
            ["restore", path, "--to", String(point), "-o", folder.path("restored")], path)
        #expect(restored == 0, "\(words)")
        #expect(words.contains("Restored"), "\(words)")
        #expect(words.contains("-wal is damaged"), "\(words)")
        #expect(try self.status(["verify"], folder.path("restored")).0 == 0)
        #expect(FileManager.default.contents(atPath: path + "-wal") == log)
    }

    /// What a killed import leaves, whose file is then removed or emptied.
    @Test("A new store isn't begun over what is left of a lost one", arguments: [true, false])
    func lostFile(isEmptied: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let store = try await SampleStore()
        let engine = try SampleStore.open(store.path)
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO posts(id) VALUES ('n')")
        }
        try FileManager.default.copyItem(atPath: store.path + "-wal", toPath: path + "-wal")
        try await engine.close()
        let log = try #require(FileManager.default.contents(atPath: path + "-wal"))
        #expect(!log.isEmpty)
        if isEmptied { try Data().write(to: URL(fileURLWithPath: path)) }
        let input = folder.path("input.jsonl")
        try Data(#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1}}"#.utf8).write(
            to: URL(fileURLWithPath: input))
        let (imported, text) = try status(["import", input, "--yes"], path)
        #expect(imported == 7, "\(text)")
        #expect(text.contains("\(path)-wal"), "\(text)")
        for command in Self.commands {
            let (status, text) = try status(command, path)
            #expect(status != 0, "\(command): \(text)")
        }
        let error = #expect(throws: StorageError.self) { _ = try StorageKit.start(at: URL(fileURLWithPath: path)) }
        #expect(error?.code == .conflict)
        #expect(FileManager.default.contents(atPath: path + "-wal") == log)
        let left: Data? = isEmptied ? Data() : nil
        #expect(FileManager.default.contents(atPath: path) == left)
    }

    @Test("An emptied store is damaged, not foreign or new")
    func emptiedStore() async throws {
        let store = try await SampleStore()
        // Whose writer has acknowledged its commits.
        try await SampleStore.open(store.path).close()
        #expect(truncate(store.path, 0) == 0)
        for command in Self.commands + [["exec", "DELETE FROM seats", "--yes"]] {
            let (status, text) = try status(command, store.path)
            #expect(status == 5, "\(command): \(text)")
            #expect(text.contains("was acknowledged"), "\(command): \(text)")
        }
        #expect(FileManager.default.contents(atPath: store.path) == Data())
    }

    /// The tables of the engine itself lie behind the damage.
    @Test("A store whose own tables are behind damage is damaged, not foreign")
    func damageBeforeEngineTables() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path()
        let engine = try SampleStore.open(folder.path("first"))
        for number in 0..<3 {
            _ = try await engine.commit(CommitMetadata()) { writer, db in
                try writer.adopt(
                    db, "t\(number)",
                    "CREATE TABLE t\(number)(id TEXT PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
            }
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.path("first") + suffix, toPath: path + suffix)
        }
        try await engine.close()
        var log = try #require(FileManager.default.contents(atPath: path + "-wal"))
        log[32 + 24 + 100] ^= 1
        try log.write(to: URL(fileURLWithPath: path + "-wal"))
        for command in [["verify"], ["log"], ["undo", "--yes"], ["doctor"]] {
            let (status, text) = try status(command, path)
            #expect(status == 5, "\(command): \(text)")
            #expect(text.contains("-wal is damaged"), "\(command): \(text)")
        }
        #expect(FileManager.default.contents(atPath: path + "-wal") == log)
    }

    @Test("What isn't a store isn't a store")
    func notAStore() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("letter.txt")
        try Data("Dear reader, this isn't a database, whatever its name may be.".utf8).write(
            to: URL(fileURLWithPath: path))
        for command in Self.commands {
            let (status, text) = try status(command, path)
            #expect(status == 3, "\(command): \(text)")
        }
    }

    /// The kernel doesn't give the first bytes of this file, which is what a failing disk looks like.
    @Test("A disk that can't be read is neither damage nor a wrong name")
    func unreadableDisk() throws {
        for command in [["verify"], ["log"], ["undo", "--yes"]] {
            let (status, text) = try status(command, "/proc/self/mem")
            #expect(status == 4, "\(command): \(text)")
            #expect(text.contains("can't be read"), "\(command): \(text)")
        }
    }

    @Test("A pipe isn't waited for")
    func pipe() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for command in [["verify"], ["log"], ["undo", "--yes"], ["doctor"]] {
            let (status, text) = try status(command, folder.path("pipe"))
            #expect(status == 3, "\(command): \(text)")
            #expect(text.contains("pipe"), "\(command): \(text)")
        }
    }

    /// The limit of a file's size simulates a full disk, in blocks of 512 bytes.
    @Test("Creating a store without room leaves no file", arguments: [8, 64, 72, 80])
    func creatingWithoutRoom(_ blocks: Int) throws {
        let folder = try TemporaryFolder()
        let input = folder.path("input.jsonl")
        try Data(#"{"tx":1,"op":"insert","table":"t","id":"1","row":{"a":1}}"#.utf8).write(
            to: URL(fileURLWithPath: input))
        let outcome = try ToolProcess.shell(
            "trap '' XFSZ; ulimit -f \(blocks); storagekit import '\(input)'", store: folder.path())
        #expect(outcome.status == 4, "\(outcome)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(left == ["input.jsonl"], "\(left)")
    }
}
