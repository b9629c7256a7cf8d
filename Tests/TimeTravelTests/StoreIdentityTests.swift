import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageLog
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// What a store says of itself: whose history it is, which features it needs, and that each part of it stands where it was written.
@Suite struct StoreIdentityTests {
    private static func store(clock: any StorageClock = SystemClock()) throws -> TemporaryStore {
        var configuration = StorageConfig()
        configuration.segmentLength = 8
        configuration.sealsInBackground = false
        configuration.clock = clock
        return try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
    }

    private static func fill(_ storage: Storage, _ ids: Range<Int>, text: String = "a note") async throws {
        for id in ids { try await storage.save(Note(id: id, text: "\(text) \(id)")) }
    }

    /// Changes a closed store as another program can.
    private static func meddle(_ url: URL, _ sql: String) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        try queue.close()
    }

    private static func open(_ url: URL, readOnly: Bool = false) throws -> Storage {
        var configuration = StorageConfig()
        configuration.isReadOnly = readOnly
        return try StorageKit.start(at: url, config: configuration) { $0.autoSchema(NoteRecord.self) }.facade
    }

    private static func commits(_ storage: Storage) async throws -> [CommitInfo] {
        var commits: [CommitInfo] = []
        for event in try await storage.allEvents() where event.commit != commits.last { commits.append(event.commit) }
        return commits
    }

    // MARK: Lineage

    @Test("A token is valid in a copy for the common history")
    func tokenInCopy() async throws {
        let store = try Self.store()
        try await Self.fill(store.storage, 0..<10)
        let early = try await store.storage.changes(since: .position(0), limit: 4).next
        let common = try await store.storage.changes(since: .head, limit: 1).next
        let copied = store.url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
        try await store.storage.backup(to: copied)
        let copy = try Self.open(copied)
        // Both go on by as many events, at the same positions.
        try await Self.fill(store.storage, 10..<14)
        try await Self.fill(copy, 10..<14)
        for token in [early, common] {
            let theirs = try await copy.changes(since: token, limit: 100).commits.flatMap(\.events)
            let ours = try await store.storage.changes(since: token, limit: 100).commits.flatMap(\.events)
            #expect(theirs.map(\.position) == ours.map(\.position))
        }
        let after = try await (
            store.storage.changes(since: .head, limit: 1).next, copy.changes(since: .head, limit: 1).next
        )
        #expect(after.0.position == after.1.position)
        for (storage, token) in [(store.storage, after.1), (copy, after.0)] {
            let error = await #expect(throws: StorageError.self) { try await storage.changes(since: token, limit: 1) }
            #expect(error?.code == .notFound)
        }
        // A copy of the copy has all three lines, and the checks of the store hold in each.
        let second = copied.deletingLastPathComponent().appendingPathComponent("second.sqlite")
        try await copy.backup(to: second)
        let last = try Self.open(second)
        #expect(try await last.changes(since: after.1, limit: 1).commits.isEmpty)
        for storage in [store.storage, copy, last] { #expect(try await storage.verify().isSound) }
        try await copy.close()
        try await last.close()
    }

    // MARK: Features

    @Test("An unknown feature is refused by its class")
    func unknownFeature() async throws {
        let store = try Self.store()
        try await Self.fill(store.storage, 0..<3)
        try await store.storage.close()
        for (column, reads, writes) in [
            ("compatible", true, true), ("read_only_compatible", true, false), ("incompatible", false, false),
        ] {
            try Self.meddle(store.url, "UPDATE storage_meta SET \(column) = 1 << 40")
            for (readOnly, works) in [(true, reads), (false, writes)] {
                if works {
                    let storage = try Self.open(store.url, readOnly: readOnly)
                    #expect(try await storage.get(Note.self, id: 2) != nil)
                    try await storage.close()
                } else {
                    let error = #expect(throws: StorageError.self) { try Self.open(store.url, readOnly: readOnly) }
                    #expect(error?.code == .unsupportedFormat, "\(column)")
                }
            }
            let queue = try DatabaseQueue(path: store.url.path)
            let kept = try await queue.read { try Int64.fetchOne($0, sql: "SELECT \(column) FROM storage_meta") }
            // Released only, it may be closing when the file is opened next, and it locks the file for that.
            try queue.close()
            #expect(kept == 1 << 40)
            try Self.meddle(store.url, "UPDATE storage_meta SET \(column) = 0")
        }
    }

    // MARK: Digests

    @Test("Every sealed segment has a digest")
    func sealedSegmentsHaveDigests() async throws {
        let store = try Self.store()
        try await Self.fill(store.storage, 0..<40)
        // A segment that is final from the beginning lies between sealed ones, and the chain skips one without a digest.
        var random = SplitMix64(seed: 1)
        let noise = String((0..<1_200_000).map { _ in Character(UnicodeScalar(UInt8(33 + random.below(94)))) })
        try await store.storage.save(Note(id: 1_000, text: noise))
        try await Self.fill(store.storage, 40..<80)
        try await store.storage.seal()
        let differing = try await store.storage.engine.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM storage_log WHERE sealed <> (digest IS NOT NULL)")
        }
        #expect(differing == 0)
        #expect(try await store.storage.verify().isSound)
        // Once more, when the log is written on to and everything was opened again.
        try await store.reopen()
        try await Self.fill(store.storage, 80..<120)
        try await store.storage.seal()
        #expect(try await store.storage.verify().isSound)
    }

    /// Each row of the log is sound by itself, and tables, keys and tombstones agree with it.
    @Test("A segment that isn't where it was written is found", arguments: ["stranger", "digest", "none"])
    func misplacedSegment(_ way: String) async throws {
        let clock = ManualClock()
        let (store, other) = (try Self.store(clock: clock), try Self.store(clock: clock))
        for storage in [store.storage, other.storage] {
            try await Self.fill(storage, 0..<30)
            try await storage.seal()
            #expect(try await storage.verify().isSound)
            try await storage.close()
        }
        switch way {
        case "stranger":
            // The same history to the byte, and yet that of another store.
            try Self.meddle(
                store.url,
                """
                ATTACH '\(other.url.path)' AS other;
                UPDATE storage_log SET digest = (SELECT digest FROM other.storage_log AS o WHERE o.position = 9)
                WHERE position = 9
                """)
        case "digest": try Self.meddle(store.url, "UPDATE storage_log SET digest = zeroblob(32) WHERE position = 9")
        default: try Self.meddle(store.url, "UPDATE storage_log SET digest = NULL WHERE position = 9")
        }
        let storage = try Self.open(store.url)
        let report = try await storage.verify()
        #expect(report.findings.contains { $0.position == 9 && $0.message.contains("digest") }, "\(report.findings)")
        try await storage.close()
    }

    // MARK: Clock

    private static let year: Double = 365 * 86_400

    @Test("A clock far ahead is refused and has no consequences")
    func clockFarAhead() async throws {
        let clock = ManualClock()
        let store = try Self.store(clock: clock)
        try await Self.fill(store.storage, 0..<1)
        let jumps = [7_000 * Self.year, 20 * Self.year]
        for jump in jumps {
            clock.advance(by: .seconds(jump))
            let error = await #expect(throws: StorageError.self) { try await Self.fill(store.storage, 1..<2) }
            #expect(error?.code == .clockAhead)
            #expect(error?.remedy.contains("maximumClockJump") ?? false)
            clock.advance(by: .seconds(-jump))
        }
        try await Self.fill(store.storage, 1..<2)
        let log = try await Self.commits(store.storage)
        #expect(log.map(\.time).max() == clock.microseconds)
        // Also where the store is opened while the clock is wrong.
        clock.advance(by: .seconds(jumps[0]))
        try await store.reopen()
        await #expect(throws: StorageError.self) { try await Self.fill(store.storage, 2..<3) }
        clock.advance(by: .seconds(-jumps[0]))
        try await Self.fill(store.storage, 2..<3)
        #expect(try await Self.commits(store.storage).map(\.time).max() == clock.microseconds)
    }

    @Test("A store may rest for as long as it likes")
    func longRest() async throws {
        let clock = ManualClock()
        let store = try Self.store(clock: clock)
        try await Self.fill(store.storage, 0..<1)
        clock.advance(by: .seconds(40 * Self.year))
        try await store.reopen()
        try await Self.fill(store.storage, 1..<2)
        #expect(try await Self.commits(store.storage).map(\.time).max() == clock.microseconds)
    }

    @Test("Any time is accepted on request")
    func anyTimeOnRequest() async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        (configuration.clock, configuration.maximumClockJump) = (clock, nil)
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
        clock.advance(by: .seconds(1_000 * Self.year))
        try await Self.fill(store.storage, 0..<1)
        #expect(try await Self.commits(store.storage).map(\.time).max() == clock.microseconds)
    }

    @Test("The clock's reading is kept where time is held back")
    func clockReadingIsKept() async throws {
        let clock = ManualClock()
        let store = try Self.store(clock: clock)
        try await Self.fill(store.storage, 0..<10)
        let latest = clock.microseconds
        clock.advance(by: .seconds(-3_600))
        try await Self.fill(store.storage, 10..<20)
        func readings() async throws -> [Int64?] {
            let commits = try await Self.commits(store.storage)
            #expect(commits.allSatisfy { $0.time == latest })
            return commits.sorted { $0.number < $1.number }.suffix(20).map(\.clock)
        }
        let expected = Array(repeating: Int64?.none, count: 10) + Array(repeating: latest - 3_600_000_000, count: 10)
        #expect(try await readings() == expected)
        try await store.storage.seal()
        #expect(try await readings() == expected)
        #expect(try await store.storage.verify().isSound)
    }
}
