import Foundation
import GRDB
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// What wakes a process that has a store open for reading only, and what is left of it afterwards.
///
/// Where the heartbeat isn't the subject it is an hour, so that a wake-up that is lost isn't made good by it. The limit is far
/// beyond what the whole run takes: a test's time goes on while it waits for others.
@Suite(.timeLimit(.minutes(30))) struct DoorbellTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path() }
    private var bellPath: String { Doorbell.path(ofStore: path) }

    init() throws { folder = try TemporaryFolder() }

    private func open(readOnly: Bool = false, heartbeat: Duration = .seconds(3_600)) throws -> StorageEngine {
        var configuration = TestStore.configuration()
        configuration.isReadOnly = readOnly
        configuration.heartbeat = heartbeat
        configuration.durability = .normal
        return try .open(path: path, configuration: configuration)
    }

    private func writer() async throws -> StorageEngine {
        let engine = try open()
        if engine.committed.position == 0 { try await engine.adopt("t", Self.table) }
        return engine
    }

    private static let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)"
    private static let insertion = "INSERT INTO t DEFAULT VALUES"

    /// What this process has open or mapped of the files of the bell, for reading only.
    private func uses() throws -> (descriptors: Int, mappings: Int) {
        let folder = "/proc/self/fd"
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else {
                return false
            }
            return target.hasPrefix(bellPath)
        }
        let mappings = try Self.mappings().filter { $0.contains(bellPath) }
        return (descriptors.count, mappings.count)
    }

    private static func mappings() throws -> [Substring] {
        // Read to its end by hand, because the file says of itself that it is empty.
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        defer { try? handle.close() }
        return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
    }

    // MARK: No wake-up is lost

    /// The hardest place for a commit: the reader has looked and is about to sleep.
    @Test("A commit between looking and sleeping is heard")
    func commitBeforeSleeping() async throws {
        let engine = try await writer()
        let (commits, rings) = (Counter(), Counter())
        let wanted = TestSettings.scaled(100)
        let watch = CommitWatcher(store: path, heartbeat: .seconds(3_600)) {
            guard commits.value < wanted else { return }
            commits.add()
            do {
                try engine.withWriterNow { writer, db in
                    try writer.group(db) {
                        _ = try writer.commit(CommitMetadata()) { try db.execute(sql: Self.insertion) }
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        let observers = CommitObservers(watch: watch)
        let observation = observers.onCommit { rings.add() }
        // One at the beginning, because nobody knows what was committed before it began to look.
        try await rings.reaches(wanted + 1)
        #expect(commits.value == wanted)
        #expect(rings.value == wanted + 1)
        observation.cancel()
        await watch.hasEnded()
        try await engine.close()
    }

    @Test("The first listener is called once, and a later one misses nothing")
    func listenersJoiningLate() async throws {
        let engine = try await writer()
        let reader = try open(readOnly: true)
        let (first, second) = (Counter(), Counter())
        let one = reader.onCommit { first.add() }
        try await first.reaches(1)
        let two = reader.onCommit { second.add() }
        try await engine.commit(Self.insertion)
        try await first.reaches(2)
        try await second.reaches(1)
        one.cancel()
        try await engine.commit(Self.insertion)
        try await second.reaches(2)
        #expect(first.value == 2)
        two.cancel()
        try await reader.close()
        try await engine.close()
    }

    @Test("Work without events rings no bell")
    func maintenanceRingsNoBell() async throws {
        var configuration = TestStore.configuration(segmentLength: 2)
        configuration.sealsInBackground = false
        let engine = try StorageEngine.open(path: path, configuration: configuration)
        try await engine.adopt("t", Self.table)
        let sight = try HeadPoller(store: path)
        #expect(try sight.hasMoved())
        #expect(try !sight.hasMoved())
        let other = try DatabaseFile(path, .reading)
        let version = try other.with { try PreparedStatement($0, "PRAGMA data_version") }
        func current() throws -> Int64 {
            defer { version.reset() }
            return try version.step() ? version.integer(0) : 0
        }
        let before = try current()
        try await engine.seal()
        #expect(try current() != before)
        #expect(try !sight.hasMoved())
        try await engine.commit(Self.insertion)
        #expect(try sight.hasMoved())
        #expect(try !sight.hasMoved())
        try await engine.close()
    }

    // MARK: Bells that can't be relied on

    @Test("Without a bell the store is polled")
    func pollingWithoutBell() async throws {
        let engine = try await writer()
        try FileManager.default.removeItem(atPath: bellPath)
        let reader = try open(readOnly: true)
        let rings = Counter()
        let observation = reader.onCommit { rings.add() }
        for count in 1...3 {
            try await rings.reaches(count)
            try await engine.commit(Self.insertion)
        }
        try await rings.reaches(4)
        #expect(try uses().mappings == 1)
        try await engine.close()
        // The next writer makes one, and it is found.
        let next = try await writer()
        try await eventually { try self.uses().mappings >= 2 }
        observation.cancel()
        try await reader.close()
        try await next.close()
    }

    /// A reader that listens to a bell which nobody rings any more finds that out by its heartbeat.
    @Test("A replaced bell is found again")
    func replacedBell() async throws {
        let first = try await writer()
        let reader = try open(readOnly: true, heartbeat: .milliseconds(30))
        let rings = Counter()
        let observation = reader.onCommit { rings.add() }
        try await rings.reaches(1)
        try await first.close()
        try FileManager.default.removeItem(atPath: bellPath)
        let second = try await writer()
        try await second.commit(Self.insertion)
        try await rings.reaches(2)
        try await eventually {
            try !Self.mappings().contains { $0.hasSuffix("\(self.bellPath) (deleted)") }
        }
        observation.cancel()
        try await reader.close()
        try await second.close()
    }

    /// As it is when a writer is killed between a commit and its ring.
    @Test("A commit without a ring is found by the heartbeat")
    func heartbeatFindsUnrungCommit() async throws {
        try await writer().close()
        let aside = folder.path("aside")
        rename(bellPath, aside)
        let engine = try await writer()
        // The reader listens to the bell of another writer than the one that rings.
        rename(aside, bellPath)
        let reader = try open(readOnly: true, heartbeat: .milliseconds(100))
        let rings = Counter()
        let observation = reader.onCommit { rings.add() }
        for count in 1...3 {
            try await rings.reaches(count)
            try await engine.commit(Self.insertion)
        }
        try await rings.reaches(4)
        observation.cancel()
        try await reader.close()
        try await engine.close()
    }

    /// Reading memory of a file that was cut ends a process; ours must not.
    @Test("A truncated bell is harmless")
    func truncatedBell() async throws {
        let engine = try await writer()
        // A sleeper can't be woken by a bell that can't be rung.
        let reader = try open(readOnly: true, heartbeat: .milliseconds(50))
        let rings = Counter()
        let observation = reader.onCommit { rings.add() }
        try await rings.reaches(1)
        truncate(bellPath, 0)
        try await engine.commit(Self.insertion)
        for count in 2...4 {
            try await rings.reaches(count)
            try await engine.commit(Self.insertion)
        }
        observation.cancel()
        try await reader.close()
        try await engine.close()
    }

    @Test("A file that isn't a bell is left alone", arguments: ["text", "pipe", "link", "folder"])
    func foreignFileAsBell(_ kind: String) async throws {
        let target = folder.path("other")
        try Data("four".utf8).write(to: URL(fileURLWithPath: target))
        switch kind {
        case "text": try Data("a note".utf8).write(to: URL(fileURLWithPath: bellPath))
        case "pipe": mkfifo(bellPath, 0o600)
        case "link": symlink(target, bellPath)
        default: mkdir(bellPath, 0o700)
        }
        let engine = try await writer()
        let reader = try open(readOnly: true)
        let rings = Counter()
        let observation = reader.onCommit { rings.add() }
        try await rings.reaches(1)
        try await engine.commit(Self.insertion)
        try await rings.reaches(2)
        #expect(try uses().mappings == 0)
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "four")
        if kind == "text" { #expect(try String(contentsOfFile: bellPath, encoding: .utf8) == "a note") }
        observation.cancel()
        try await reader.close()
        try await engine.close()
    }

    // MARK: What is left

    @Test("Nothing stays open without listeners")
    func nothingStaysOpen() async throws {
        try await writer().close()
        let reader = try open(readOnly: true)
        #expect(try uses() == (0, 0))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        let watch = try #require(reader.observers.watch)
        for _ in 0..<3 {
            let rings = Counter()
            var observations = (0..<3).map { _ in reader.onCommit { rings.add() } }
            try await rings.reaches(1)
            #expect(try uses() == (1, 1))
            observations.removeAll()
            // The thread hears of it unless it was about to sleep; then the next word does it.
            try await eventually {
                watch.disturb()
                return !watch.isRunning
            }
            #expect(try uses() == (0, 0))
        }
        let listener = Task { for await _ in reader.commitBell() {} }
        try await eventually { try self.uses().mappings > 0 }
        try await reader.close()
        #expect(try uses() == (0, 0))
        #expect(!watch.isRunning)
        await listener.value
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == files)
    }

    @Test("A store that is released ends its thread")
    func releasedStoreEndsThread() async throws {
        try await writer().close()
        var reader: StorageEngine? = try open(readOnly: true)
        let rings = Counter()
        let observation = reader?.onCommit { rings.add() }
        try await rings.reaches(1)
        let watch = try #require(reader?.observers.watch)
        reader = nil
        try await eventually {
            watch.disturb()
            return !watch.isRunning
        }
        #expect(try uses() == (0, 0))
        withExtendedLifetime(observation) {}
    }

    @Test("The bell has the store's permissions and is removed with it")
    func bellPermissionsAndRemoval() async throws {
        try await writer().close()
        chmod(path, 0o640)
        try FileManager.default.removeItem(atPath: bellPath)
        try await writer().close()
        let attributes = try FileManager.default.attributesOfItem(atPath: bellPath)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        #expect(attributes[.size] as? Int == 32)
        try StorageEngine.erase(path: path)
        #expect(!FileManager.default.fileExists(atPath: bellPath))
    }

    // MARK: Observers

    @Test("An observer is called until it has enough")
    func observerRemovesItself() async throws {
        var configuration = TestStore.configuration()
        // Sealing is a transaction, too.
        configuration.sealsInBackground = false
        let engine = try StorageEngine.openInMemory(configuration: configuration)
        try await engine.adopt("t", Self.table)
        let calls = Counter()
        let own = Mutex<StorageObservation?>(nil)
        let observation = engine.onCommit {
            calls.add()
            if calls.value == 2 { own.withLock { $0 }?.cancel() }
        }
        own.withLock { $0 = observation }
        for _ in 0..<4 { try await engine.commit(Self.insertion) }
        #expect(calls.value == 2)
        #expect(engine.observers.bellCount == 0)
        let last = Counter()
        let other = engine.onCommit { last.add() }
        try await engine.close()
        #expect(last.value == 1)
        // The store is closed, and says so.
        let late = engine.onCommit { last.add() }
        #expect(last.value == 2)
        withExtendedLifetime((other, late)) {}
    }
}

extension Counter {
    /// Waits for as many.
    fileprivate func reaches(_ count: Int) async throws {
        try await eventually { self.value >= count }
    }
}
