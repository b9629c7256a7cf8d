import CSQLite
import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageMaintenance
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// P10: a commit that was acknowledged isn't gone without a word. One byte that is changed in the middle of the write-ahead log,
/// a log that was cut or deleted, an older copy of the file: `verify` says so, and a writer doesn't open the store and overwrite
/// what is left. What a loss of power leaves is no damage.
struct AcknowledgedCommitsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func verify(_ path: String) async throws -> VerifyReport {
        let configuration = StorageConfig(isReadOnly: true)
        let engine = try StorageEngine.open(path: path, configuration: configuration)
        let end = engine.acknowledgedEnd()
        let report = try await engine.read { db in
            let connection = try db.connection
            var verifier = Verifier(connection, end: end)
            return try verifier.run()
        }
        try await engine.close()
        return report
    }

    private func open(_ path: String, _ durability: StorageConfig.Durability = .full) throws -> StorageEngine {
        var configuration = TestStore.configuration()
        configuration.durability = durability
        configuration.sealsInBackground = false
        return try .open(path: path, configuration: configuration)
    }

    private func refusal(_ path: String) -> StorageError? {
        do {
            let engine = try open(path)
            engine.closeNow()
            return nil
        } catch {
            return error as? StorageError
        }
    }

    private func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    // MARK: Damage in the middle of the write-ahead log

    /// Where a bit is changed, from the beginning of a frame; the last is in the log's header.
    private static let places: [(frame: Int, byte: Int)] = [
        (1, 24 + 100), (1, 0), (1, 8), (1, 17), (9, 24 + 4_000), (9, 4), (9, 12), (9, 23), (40, 24), (0, 0), (0, 9),
        (0, 17), (0, 30),
    ]

    @Test("A flipped bit inside of the write-ahead log is damage")
    func bitFlipInsideWALIsDamage() async throws {
        let crashed = try await CrashedStore(commits: 30)
        for (frame, byte) in Self.places {
            var damaged = crashed
            damaged.log[(frame == 0 ? 0 : CrashedStore.start(of: frame)) + byte] ^= 0x10
            let path = try damaged.write(to: folder)
            let found = try #require(try WriteAheadLog.damage(besideStore: path), "frame \(frame), byte \(byte)")
            #expect(found.frame == frame, "frame \(frame), byte \(byte)")
            #expect(found.transactions > 5, "frame \(frame), byte \(byte)")
            let report = try await verify(path)
            #expect(report.findings.first?.kind == "write-ahead-log", "frame \(frame), byte \(byte)")
            let error = try #require(refusal(path), "frame \(frame), byte \(byte)")
            #expect(error.code == .corrupt, "\(error)")
            #expect(error.message.contains("\(found.transactions) transactions"), "\(error)")
            // What can be saved is still there.
            #expect(bytes(path) == damaged.main)
            #expect(bytes(path + "-wal") == Data(damaged.log))
        }
    }

    /// Whatever is changed: either it is reported, or every commit is there.
    @Test("Damage of the write-ahead log is reported or harmless", arguments: TestSettings.seeds(4, from: 0xA3))
    func walDamageIsReportedOrHarmless(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let crashed = try await CrashedStore(commits: 12)
        for _ in 0..<8 {
            var damaged = crashed
            let start = random.below(damaged.log.count)
            switch random.below(4) {
            case 0: damaged.log[start] ^= 1 << random.below(8)
            case 1: damaged.log.removeSubrange(start...)
            case 2: for place in start..<min(start + 5_000, damaged.log.count) { damaged.log[place] = 0 }
            default:
                for place in start..<min(start + 700, damaged.log.count) {
                    damaged.log[place] = UInt8(random.below(256))
                }
            }
            let path = try damaged.write(to: folder, acknowledged: crashed.head)
            let report = try await verify(path)
            let refused = refusal(path)
            #expect(report.isSound == (refused == nil), "seed \(seed), @\(start): \(report.findings)")
            guard refused == nil else { continue }
            let engine = try open(path)
            #expect(try await engine.integer("SELECT count(*) FROM t") == 12, "seed \(seed), @\(start)")
            try await engine.close()
        }
    }

    // MARK: What is no damage

    @Test("A torn end isn't damage")
    func tornEnd() async throws {
        let crashed = try await CrashedStore(commits: 12)
        for frame in 1...crashed.frames {
            for offset in [-100, -1, 0, 1, 23, 24, 600] {
                var torn = crashed
                torn.log.removeSubrange(min(max(0, CrashedStore.start(of: frame) + offset), torn.log.count)...)
                let path = try torn.write(to: folder)
                #expect(try WriteAheadLog.damage(besideStore: path) == nil, "frame \(frame), \(offset)")
            }
        }
        // The last transaction has come to the disk in any part and order.
        let (before, end) = (crashed.lengths[10], crashed.lengths[11])
        var random = SplitMix64(seed: 7)
        for round in 0..<12 {
            var torn = crashed
            for sector in stride(from: before, to: end, by: 512)
            where random.chance(40) || round == 0 && sector == before {
                for place in sector..<min(sector + 512, end) {
                    torn.log[place] = round % 2 == 0 ? 0 : UInt8(random.below(256))
                }
            }
            let path = try torn.write(to: folder, acknowledged: crashed.head - 1)
            #expect(try await verify(path).isSound, "round \(round)")
            let engine = try open(path)
            #expect(engine.committed.position >= crashed.head - 1, "round \(round)")
            try await engine.close()
        }
    }

    /// GRDB writes the first transaction of an empty log while it opens the file, and doesn't wait for the disk: when the next one
    /// has come there and it hasn't, neither was acknowledged.
    @Test("The first transaction of a log needn't be on the disk")
    func firstTransactionMayBeMissing() async throws {
        let crashed = try await CrashedStore(commits: 0)
        #expect(crashed.frames > 2)
        for frame in 1...crashed.frames {
            var torn = crashed
            for place in CrashedStore.start(of: frame)..<CrashedStore.start(of: frame + 1) { torn.log[place] = 0 }
            let path = try torn.write(to: folder, acknowledged: crashed.head)
            #expect(try WriteAheadLog.damage(besideStore: path) == nil, "frame \(frame)")
            // What this one writes takes the place of the first frames.
            let engine = try open(path)
            #expect(try WriteAheadLog.damage(besideStore: path) == nil, "frame \(frame)")
            try await engine.close()
        }
    }

    /// A transaction that failed, or was torn, has left its frames behind the end of a shorter one.
    @Test("Frames of failed transactions aren't damage")
    func framesOfFailedTransactions() async throws {
        let crashed = try await CrashedStore(commits: 5)
        func log(after sql: [String]) async throws -> [UInt8] {
            let path = try crashed.write(to: folder)
            let engine = try open(path)
            for sql in sql { try await engine.commit(sql) }
            let log = bytes(path + "-wal").map { [UInt8]($0) } ?? []
            engine.closeNow()
            return log
        }
        let large = "INSERT INTO t(v) VALUES (zeroblob(60000))"
        let (long, middle) = (
            try await log(after: [large]), try await log(after: ["INSERT INTO t(v) VALUES (zeroblob(30000))"])
        )
        let short = try await log(after: ["INSERT INTO t(v) VALUES (1)"])
        #expect(short.count < middle.count)
        #expect(middle.count < long.count)
        var left = crashed
        left.log = short + middle[short.count...] + long[middle.count...]
        let path = try left.write(to: folder)
        #expect(try WriteAheadLog.damage(besideStore: path) == nil)
        // Some that were committed are more than a failure leaves.
        left.log = short + (try await log(after: [large, large, large, large]))[short.count...]
        #expect(try WriteAheadLog.damage(besideStore: try left.write(to: folder)) != nil)
    }

    /// Where SQLite assumes that a disk harms bytes beside those that it writes, it writes the last frame of a transaction again.
    @Test("Repeated frames are one transaction")
    func repeatedFrames() throws {
        let path = folder.path("padded.sqlite")
        let connection = try Connection(
            opening: "file:\(path)?psow=0", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
            orFailWith: "\(path) can't be opened")
        try connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE a(v); CREATE TABLE b(v)")
        for number in 0..<6 {
            try connection.execute(
                "BEGIN; INSERT INTO a VALUES (\(number)); INSERT INTO b VALUES (\(number)); COMMIT")
        }
        let log = [UInt8](try #require(bytes(path + "-wal")))
        connection.close()
        func damage(at frame: Int) throws -> WriteAheadLog.Damage? {
            var changed = log
            changed[CrashedStore.start(of: frame) + 2_000] ^= 1
            try Data(changed).write(to: URL(fileURLWithPath: folder.path("other") + "-wal"))
            return try WriteAheadLog.damage(besideStore: folder.path("other"))
        }
        let frames = (log.count - CrashedStore.headerSize) / CrashedStore.frameSize
        #expect(frames > 6 * 2 + 4, "nothing was repeated")
        let middle = try damage(at: 4)
        #expect((middle?.transactions ?? 0) > 3)
        // The last transaction has two pages and repetitions of the second.
        for frame in (frames - 2)...frames { #expect(try damage(at: frame) == nil) }
    }

    /// A frame is read while it is written; when those behind it are read, there are more.
    @Test("A frame that is being written isn't damage")
    func frameBeingWritten() async throws {
        let crashed = try await CrashedStore(commits: 12)
        var early = crashed
        let frame = 9
        for place in CrashedStore.start(of: frame) + 700..<early.log.count { early.log[place] = 0 }
        let path = try early.write(to: folder)
        var isWritten = false
        let damage = try WriteAheadLog.damage(besideStore: path) { place in
            guard place > CrashedStore.start(of: frame), !isWritten else { return }
            isWritten = true
            try overwrite(path + "-wal", with: crashed.log)
        }
        #expect(isWritten)
        #expect(damage == nil)
    }

    /// The writer begins the log again while it is read: new frames in front, those of the round before behind them.
    @Test("A write-ahead log that is restarted isn't damage")
    func restartedWAL() async throws {
        let (crashed, next) = (try await CrashedStore(commits: 12), try await CrashedStore(commits: 3))
        #expect(next.frames > 6)
        #expect(next.frames + 6 < crashed.frames)
        let path = try crashed.write(to: folder)
        var isWritten = false
        let damage = try WriteAheadLog.damage(besideStore: path) { place in
            guard place >= CrashedStore.start(of: 5), !isWritten else { return }
            isWritten = true
            try overwrite(path + "-wal", with: next.log)
        }
        #expect(isWritten)
        #expect(damage == nil)
    }

    private func overwrite(_ file: String, with bytes: [UInt8]) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// The log is read while a writer appends to it and begins it again.
    @Test("Verifying beside a working writer finds no damage")
    func verifyingBesideWriter() async throws {
        let path = folder.path()
        let engine = try open(path, .normal)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        let isOver = Flag()
        let work = Task {
            defer { isOver.value.store(true, ordering: .releasing) }
            for number in 0..<TestSettings.scaled(400) {
                try await engine.commit(CrashedStore.insertion(number))
                if number % 23 == 22 { try await engine.withWriter { writer, db in try writer.checkpoint(db) } }
            }
        }
        repeat {
            let damage = try WriteAheadLog.damage(besideStore: path)
            #expect(damage == nil)
        } while !isOver.value.load(ordering: .acquiring)
        try await work.value
        try await engine.close()
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    // MARK: The last position that was acknowledged

    @Test("A truncated log is detected by what was acknowledged")
    func truncatedWALIsDetected() async throws {
        var crashed = try await CrashedStore(commits: 12)
        crashed.log.removeSubrange(crashed.lengths[7]...)
        let path = try crashed.write(to: folder, acknowledged: crashed.head)
        let report = try await verify(path)
        #expect(report.findings.map(\.kind) == ["write-ahead-log"])
        #expect(report.findings.first?.message.contains("@\(crashed.head) was acknowledged") ?? false)
        let error = try #require(refusal(path))
        #expect(error.code == .corrupt, "\(error)")
        #expect(error.remedy.contains("\(path).bell"), "\(error)")
        #expect(bytes(path) == crashed.main)
        #expect(bytes(path + "-wal") == Data(crashed.log))
        // The one step that continues with what is there.
        unlink(path + ".bell")
        #expect(refusal(path) == nil)
        #expect(try await verify(path).isSound)
    }

    @Test("An older copy over the file is detected")
    func olderCopyIsDetected() async throws {
        let path = folder.path()
        let engine = try open(path)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.close()
        let older = try #require(bytes(path))
        let again = try open(path)
        try await again.commit(CrashedStore.insertion(1))
        let head = again.committed.position
        try await again.close()
        #expect(Acknowledgement.reading(besideStore: path)?.position == head)
        // As `cp` does it: the file stays the same one.
        try older.write(to: URL(fileURLWithPath: path))
        #expect(refusal(path)?.code == .corrupt)
        // Another file under the name is another store, also where what was acknowledged of the former is still there.
        try older.write(to: URL(fileURLWithPath: folder.path("copy")))
        rename(folder.path("copy"), path)
        #expect(try await verify(path).isSound)
        #expect(refusal(path) == nil)
    }

    /// SQLite would delete or overwrite it.
    @Test("A file that isn't SQLite's and has the name of a log is kept", arguments: ["-wal", "-journal"])
    func foreignLog(suffix: String) async throws {
        let path = folder.path()
        let engine = try open(path)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.close()
        for text in ["n", "my notes\n", String(repeating: "my notes of this day\n", count: 100)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + suffix))
            for isReadOnly in [false, true] {
                let error = #expect(throws: StorageError.self) {
                    _ = try StorageEngine.open(path: path, configuration: StorageConfig(isReadOnly: isReadOnly))
                }
                #expect(error?.code == .conflict, "\(text.prefix(10)), read-only \(isReadOnly)")
                #expect(error?.message.contains("\(path)\(suffix) isn't a file of SQLite") == true)
            }
            for access in [DatabaseFile.Access.reading, .owning] {
                #expect(throws: StorageError.self) { _ = try DatabaseFile(path, access) }
            }
            #expect(bytes(path + suffix) == Data(text.utf8))
        }
        unlink(path + suffix)
        #expect(refusal(path) == nil)
    }

    /// What a power failure or `journal_mode = PERSIST` leaves.
    @Test("A log without a whole header is SQLite's", arguments: ["-wal", "-journal"])
    func logWithoutHeader(suffix: String) async throws {
        let path = folder.path()
        let engine = try open(path)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.close()
        let mark: [UInt8] =
            suffix == "-wal" ? [0x37, 0x7F, 0x06, 0x82] : [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        let zeros = [UInt8](repeating: 0, count: 600)
        for left in [[], mark.prefix(1) + [], mark.prefix(3) + [], mark, zeros.prefix(5) + [], zeros, mark + zeros] {
            try Data(left).write(to: URL(fileURLWithPath: path + suffix))
            #expect(refusal(path) == nil, "\(left.prefix(12)), \(left.count) bytes")
        }
    }

    /// SQLite deletes a write-ahead log whose database is empty, and with it the commits in it.
    @Test("The write-ahead log of a lost file is kept", arguments: [true, false], ["-wal", "-journal"])
    func logOfLostFile(isTruncated: Bool, suffix: String) async throws {
        let crashed = try await CrashedStore(commits: 12)
        let path = try crashed.write(to: folder)
        if isTruncated { truncate(path, 0) } else { unlink(path) }
        rename(path + "-wal", path + suffix)
        for isReadOnly in [false, true] {
            let error = #expect(throws: StorageError.self) {
                _ = try StorageEngine.open(path: path, configuration: StorageConfig(isReadOnly: isReadOnly))
            }
            #expect(error?.code == (isReadOnly && !isTruncated ? .notFound : .conflict))
        }
        let message = refusal(path)?.message ?? ""
        #expect(message.contains(path + suffix), "\(message)")
        #expect(bytes(path + suffix) == Data(crashed.log))
        let left: Data? = isTruncated ? Data() : nil
        #expect(bytes(path) == left)
        // The step that the error names.
        rename(path + suffix, folder.path("kept"))
        #expect(refusal(path) == nil)
    }

    @Test(
        "An emptied file whose commits were acknowledged is damaged",
        arguments: [StorageConfig.Durability.full, .normal])
    func emptiedFile(durability: StorageConfig.Durability) async throws {
        let crashed = try await CrashedStore(commits: 3, durability: durability)
        let path = try crashed.write(to: folder)
        truncate(path, 0)
        try CrashedStore.acknowledge(crashed.head, durability, beside: path)
        for hasLog in [true, false] {
            if !hasLog { unlink(path + "-wal") }
            for isReadOnly in [false, true] {
                let error = #expect(throws: StorageError.self) {
                    _ = try StorageEngine.open(path: path, configuration: StorageConfig(isReadOnly: isReadOnly))
                }
                #expect(error?.code == .corrupt)
                #expect(error?.message.contains("@\(crashed.head) was acknowledged") ?? false)
            }
            #expect(bytes(path) == Data())
            let log: Data? = hasLog ? Data(crashed.log) : nil
            #expect(bytes(path + "-wal") == log)
        }
    }

    /// The tables of a new store are in its write-ahead log until that is copied into the file.
    @Test(
        "A new store whose write-ahead log was deleted has lost what was acknowledged",
        arguments: [StorageConfig.Durability.full, .normal])
    func newStoreWithoutLog(durability: StorageConfig.Durability) async throws {
        let path = folder.path()
        let engine = try open(path, durability)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        let new = try #require(bytes(path))
        let head = engine.committed.position
        try await engine.close()
        #expect(Acknowledgement.reading(besideStore: path)?.position == head)
        // As it is on the disk until the store is closed; the file stays the same one.
        try new.write(to: URL(fileURLWithPath: path))
        if durability == .full {
            for isReadOnly in [false, true] {
                let error = #expect(throws: StorageError.self) {
                    _ = try StorageEngine.open(path: path, configuration: StorageConfig(isReadOnly: isReadOnly))
                }
                #expect(error?.code == .corrupt, "read-only \(isReadOnly)")
                #expect(error?.message.contains("@\(head) was acknowledged") ?? false)
            }
            #expect(bytes(path) == new)
            unlink(path + ".bell")
        }
        #expect(refusal(path) == nil)
    }

    /// `mktemp` makes such a file; so does a process that is killed while it creates a store, with a journal of a file of no pages.
    @Test("An empty file becomes a store", arguments: [true, false])
    func emptyFile(hasJournal: Bool) throws {
        let path = folder.path()
        try Data().write(to: URL(fileURLWithPath: path))
        var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
        journal += Data(count: 504)
        if hasJournal { try journal.write(to: URL(fileURLWithPath: path + "-journal")) }
        #expect(refusal(path) == nil)
    }

    @Test("A file that was put in place isn't checked against acknowledgements")
    func placedFile() async throws {
        let crashed = try await CrashedStore(commits: 3)
        let path = folder.path()
        for isReplacing in [true, false] {
            if isReplacing { try Data().write(to: URL(fileURLWithPath: path)) } else { unlink(path) }
            let placement = try FilePlacement(path, replacing: isReplacing, like: path)
            try crashed.main.write(to: URL(fileURLWithPath: placement.partial))
            let file = Acknowledgement.file(of: placement.partial) ?? 0
            // A file that was deleted gives its number to the next.
            let former = Acknowledgement(position: 1_000, durability: .full, file: file)
            try Data([0, 0, 0, 0] + former.bytes).write(to: URL(fileURLWithPath: path + ".bell"))
            try placement.place()
            #expect(refusal(path) == nil, "replacing \(isReplacing)")
        }
    }

    @Test("Work that fails before a file is replaced leaves no lock beside it")
    func lockOfUnplacedFile() async throws {
        let path = try await CrashedStore(commits: 3).write(to: folder)
        unlink(path + ".lock")
        let placement = try FilePlacement(path, replacing: true, like: path)
        placement.discard()
        #expect(access(path + ".lock", F_OK) != 0)
        #expect(refusal(path) == nil)
    }

    /// Numbers in a bell can be anything. They crash nobody, and never put a store out of use for good.
    @Test("A bell with implausible numbers is survived")
    func implausibleBell() async throws {
        let crashed = try await CrashedStore(commits: 3)
        let path = try crashed.write(to: folder)
        let file = Acknowledgement.file(of: path) ?? 0
        let sound = Acknowledgement(position: crashed.head, durability: .full, file: file).bytes
        for place in sound.indices {
            var odd = sound
            odd[place] ^= 0x80
            try Data([0, 0, 0, 0] + odd).write(to: URL(fileURLWithPath: path + ".bell"))
            #expect(Acknowledgement.reading(besideStore: path) == nil, "byte \(place)")
        }
        for position in [Int64.max, Int64.min, -1, 1 << 62] {
            try CrashedStore.acknowledge(position, beside: path)
            #expect(Acknowledgement.reading(besideStore: path) == nil, "@\(position)")
        }
        try CrashedStore.acknowledge(1 << 61, beside: path)
        #expect(refusal(path)?.remedy.contains("remove \(path).bell") ?? false)
        unlink(path + ".bell")
        #expect(refusal(path) == nil)
    }

    // MARK: Durability that may lose commits

    @Test("With `normal` durability the last commits are lost and not damaged")
    func normalDurabilityLosesCommits() async throws {
        let crashed = try await CrashedStore(commits: 12, durability: .normal)
        var cut = crashed
        cut.log.removeSubrange(crashed.lengths[7]...)
        // Frames come to the disk in any order.
        var holed = crashed
        holed.log[crashed.lengths[7] + 1_000] ^= 1
        for lost in [cut, holed] {
            let path = try lost.write(to: folder, acknowledged: crashed.head, durability: .normal)
            let report = try await verify(path)
            #expect(report.isSound, "\(report)")
            #expect(report.warnings.count >= 1, "\(report)")
            let engine = try open(path, .normal)
            let head = engine.committed.position
            #expect(head < crashed.head)
            #expect(head > 1)
            try await engine.commit(CrashedStore.insertion(1))
            // As it is when this process is killed, too.
            #expect(try WriteAheadLog.damage(besideStore: path) == nil)
            let after = try await verify(path)
            #expect(after.isSound, "\(after)")
            #expect(after.warnings.isEmpty, "\(after)")
            try await engine.close()
        }
    }

    /// An opening for commits that may be lost says so before the first; a durable one withdraws it.
    @Test("The next opening knows the durability")
    func durabilityIsRecorded() async throws {
        let path = folder.path()
        for durability in [StorageConfig.Durability.full, .normal, .full] {
            let engine = try open(path, durability)
            #expect(Acknowledgement.reading(besideStore: path)?.durability == durability)
            if engine.committed.position == 0 {
                try await engine.adopt(
                    "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
            }
            try await engine.commit("INSERT INTO t DEFAULT VALUES")
            let known = Acknowledgement.reading(besideStore: path)
            #expect(known?.durability == durability)
            #expect(known?.position == engine.committed.position)
            try await engine.close()
        }
    }
}
