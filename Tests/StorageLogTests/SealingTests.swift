import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// Sealing changes the bytes of the log and nothing else, however large its rows are, and holds the writer for short times
/// only.
@Suite struct SealingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ length: Int) async throws -> StorageEngine {
        var configuration = TestStore.configuration(segmentLength: length)
        configuration.sealsInBackground = false
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        if try await engine.integer("SELECT 1 FROM sqlite_schema WHERE name = 't'") == 1 { return engine }
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        return engine
    }

    private func log(_ engine: StorageEngine) async throws -> [LoggedEvent] {
        try await engine.withWriter { writer, _ in try LogReader(writer.database).events() }
    }

    private func rows(_ engine: StorageEngine) async throws -> (count: Int64, unsealed: Int64) {
        (
            try await engine.integer("SELECT count(*) FROM storage_log") ?? 0,
            try await engine.integer("SELECT count(*) FROM storage_log WHERE sealed = 0") ?? 0
        )
    }

    private func sealing(_ engine: StorageEngine) async throws {
        let before = try await log(engine)
        try await engine.seal()
        #expect(try await log(engine) == before)
    }

    @Test("Small segments are merged", arguments: [1, 4, 64])
    func smallSegmentsAreMerged(length: Int) async throws {
        let engine = try await open(length)
        for number in 0..<300 {
            try await engine.commit(
                "INSERT INTO t(id, v) VALUES (\(number), '\(number)'); UPDATE t SET v = v || 'x' WHERE id > \(number - 2)",
                CommitMetadata(actor: number % 3 == 0 ? "anna" : nil, attributes: ["n": "\(number)"]))
        }
        try await sealing(engine)
        let (count, unsealed) = try await rows(engine)
        #expect(count - unsealed == engine.committed.position / Int64(length))
        try await engine.close()
    }

    /// C1: metadata is part of what a row of the log may hold.
    @Test("Metadata counts for the length of a segment")
    func metadataCountsForLength() async throws {
        let engine = try await open(16)
        let text = String(repeating: "m", count: 65_000)
        for number in 0..<20 {
            let attributes = Dictionary(uniqueKeysWithValues: (0..<10).map { ("\($0)", "\($0)-\(number)" + text) })
            try await engine.commit("INSERT INTO t(id) VALUES (\(number))", CommitMetadata(attributes: attributes))
        }
        try await sealing(engine)
        let largest = try await engine.integer("SELECT max(size) FROM storage_log") ?? 0
        #expect(largest <= Limits.segmentTargetBytes + 100_000)
        // Written by one group, too.
        try await engine.withWriter { writer, db in
            try writer.group(db) {
                for number in 300..<320 {
                    let attributes = Dictionary(uniqueKeysWithValues: (0..<10).map { ("\($0)", "\(number)" + text) })
                    _ = try writer.commit(CommitMetadata(attributes: attributes)) {
                        try db.execute(sql: "INSERT INTO t(id) VALUES (\(number))")
                    }
                }
            }
        }
        #expect(
            try await engine.integer("SELECT max(size) FROM storage_log") ?? 0 <= Limits.segmentTargetBytes + 100_000)
        try await engine.close()
    }

    @Test("Large segments stay as they are")
    func largeSegmentsStay() async throws {
        let engine = try await open(16)
        for number in 0..<40 {
            // Every fourth is too large to be merged, and doesn't compress.
            let size = number % 4 == 0 ? 2 << 20 : 100
            try await engine.commit("INSERT INTO t(id, v) VALUES (\(number), randomblob(\(size)))")
        }
        try await sealing(engine)
        let head = engine.committed.position
        let small = try await engine.integer(
            "SELECT count(*) FROM storage_log WHERE sealed = 0 AND length(body) < 1000000 AND last <= \(head / 16 * 16)"
        )
        #expect(small == 0)
        #expect(engine.sealingWork.runs > 0)
        // Where nothing is left to do, nothing is done again.
        let runs = engine.sealingWork.runs
        try await engine.seal()
        #expect(engine.sealingWork.runs == runs)
        try await engine.close()
    }

    @Test("A large batch is written in its final form")
    func largeBatchIsWrittenSealed() async throws {
        let engine = try await open(64)
        try await engine.commit("INSERT INTO t(id) VALUES (-1)")
        try await engine.commit(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t(id, v) SELECT i, i FROM n"
        )
        let head = engine.committed.position
        let unsealed = try await engine.integer(
            "SELECT count(*) FROM storage_log WHERE sealed = 0 AND last <= \(head / 64 * 64)")
        #expect(unsealed == 0)
        let runs = engine.sealingWork.runs
        try await engine.seal()
        #expect(engine.sealingWork.runs == runs)
        try await engine.close()
    }

    /// What a transaction has written sealed and rolled back isn't sealed.
    @Test("A large batch that fails seals nothing")
    func failedLargeBatch() async throws {
        let engine = try await open(64)
        for number in 0..<10 { try await engine.commit("INSERT INTO t(id) VALUES (\(-number - 1))") }
        // The batch is in the log, behind a window that it has sealed, by the time that this is found out.
        let error = await code {
            try await engine.commit(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO t(id, v) SELECT i, i FROM n;
                PRAGMA application_id = 7
                """)
        }
        #expect(error == .invalidArgument)
        #expect(try await engine.integer("SELECT count(*) FROM storage_log WHERE sealed") == 0)
        for number in 0..<300 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(number), '\(number)')") }
        try await sealing(engine)
        let head = engine.committed.position
        #expect(
            try await engine.integer("SELECT count(*) FROM storage_log WHERE sealed = 0 AND last <= \(head / 64 * 64)")
                == 0)
        try await engine.close()
    }

    /// The metadata of a large commit is in each of its rows, however much it is, and isn't a reason for more of them.
    @Test("Metadata beyond the length of a segment makes no more segments", arguments: [2_000, 3_000])
    func oversizedMetadata(count: Int) async throws {
        let engine = try await open(1_024)
        let text = String(repeating: "m", count: 65_000)
        let attributes = Dictionary(uniqueKeysWithValues: (0..<140).map { ("\($0)", text) })
        let receipt = try await engine.commit(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO t(id, v) SELECT i, i FROM n",
            CommitMetadata(attributes: attributes))
        let windows = (receipt.last - 1) / 1_024 - (receipt.first - 1) / 1_024 + 1
        func rows() async throws -> Int64? {
            try await engine.integer("SELECT count(*) FROM storage_log WHERE last >= \(receipt.first)")
        }
        #expect(try await rows() == windows)
        try await engine.seal()
        #expect(try await rows() == windows)
        let commits = try await engine.withWriter { writer, _ in
            try LogReader(writer.database).batch(containing: receipt.last)?.commits.map(\.info.metadata)
        }
        #expect(commits == [CommitMetadata(attributes: attributes)])
        try await engine.close()
    }

    /// Nothing is deleted for what doesn't decode to the same.
    @Test("Segments that can't be read are left alone")
    func unreadableSegments() async throws {
        let engine = try await open(16)
        for number in 0..<40 { try await engine.commit("INSERT INTO t(id, v) VALUES (\(number), '\(number)')") }
        try await engine.withWriter { writer, db in
            try writer.maintenance(db, changesSchema: false) {
                try db.execute(
                    sql: "UPDATE storage_log SET body = substr(body, 1, length(body) - 3) || x'010203' WHERE last = 12")
            }
        }
        let before = try await rows(engine)
        #expect(await code { try await engine.seal() } == .corrupt)
        #expect(try await rows(engine) == before)
        try await engine.close()
    }

    @Test("Commits continue while windows are sealed")
    func commitsDuringSealing() async throws {
        var configuration = TestStore.configuration(segmentLength: 64)
        configuration.durability = .normal
        let engine = try StorageEngine.open(path: folder.path("busy.sqlite"), configuration: configuration)
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        try await engine.commit("INSERT INTO t(id, v) VALUES (\(task * 1_000 + number), '\(number)')")
                    }
                }
            }
            try await group.waitForAll()
        }
        try await engine.seal()
        let (count, unsealed) = try await rows(engine)
        #expect(count - unsealed == engine.committed.position / 64)
        #expect(try await log(engine).filter { $0.entity != CatalogEntity.catalog.id }.count == 800)
        try await engine.close()
    }

    /// A reader that can't be opened fails as often as it is asked for.
    @Test("Sealing that fails waits for the next commit")
    func failedSealingWaits() async throws {
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 16))
        try await engine.adopt("t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        // The next event ends a window.
        while engine.committed.position < 15 { try await engine.commit("INSERT INTO t(v) VALUES ('v')") }
        let (log, moved) = (folder.path() + "-wal", folder.path("moved-wal"))
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO t(v) VALUES ('v')")
            // The writer has its write-ahead log open already, and looks for its name when a transaction begins.
            try FileManager.default.moveItem(atPath: log, toPath: moved)
            try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
        }
        try await eventually { engine.counters.failedSealings > 0 }
        // In the background it would try again after each of these blocks.
        for _ in 0..<200 { try await engine.pool.writeWithoutTransaction { _ in } }
        #expect(engine.counters.failedSealings == 1)
        #expect(engine.sealingWork.runs == 0)
        try FileManager.default.removeItem(atPath: log)
        try FileManager.default.moveItem(atPath: moved, toPath: log)
        try await engine.commit("INSERT INTO t(id, v) VALUES (100, 'v')")
        try await eventually { engine.sealingWork.runs > 0 }
        try await engine.close()
    }

    /// The transaction that exchanges segments finds that the table is missing. That says nothing about the log.
    @Test("Sealing beside a dropped table leaves the store as it was")
    func droppedTable() async throws {
        let earlier = try await open(16)
        for number in 0..<40 { try await earlier.commit("INSERT INTO t(id, v) VALUES (\(number), 'v')") }
        try await earlier.close()
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: 16))
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { try $0.execute(sql: "DROP TABLE t") }
        try foreign.close()
        for attempt in 1...2 {
            let error = await #expect(throws: StorageError.self) { try await engine.commit("DELETE FROM u") }
            #expect(error?.code == .corrupt, "attempt \(attempt): \(error?.message ?? "")")
            try await eventually { engine.counters.failedSealings >= attempt }
        }
        #expect(engine.sealingWork.runs == 0)
        try await engine.close()
    }

    // MARK: Bases

    private func bases(_ engine: StorageEngine) async throws -> [Int64] {
        try await engine.withWriter { _, db in
            try Int64.fetchAll(db, sql: "SELECT base FROM storage_log WHERE sealed = 1 ORDER BY position")
        }
    }

    /// The same long texts in every window, a word of each changed: what an earlier window holds need not be stored again.
    private func rewrite(_ engine: StorageEngine, rounds: Range<Int>, batch: Bool) async throws {
        var random = SplitMix64(seed: 11)
        let texts = (0..<32).map { _ in (0..<60).map { _ in String(random.next(), radix: 36) }.joined(separator: " ") }
        var updates: [String] = []
        for round in rounds {
            updates += texts.enumerated().map { id, text in
                """
                INSERT INTO t(id, v) VALUES (\(id), '\(text) \(round)')
                ON CONFLICT(id) DO UPDATE SET v = replace(excluded.v, ' ', ' \(round) ');
                """
            }
        }
        if batch {
            try await engine.commit(updates.joined())
        } else {
            for update in updates { try await engine.commit(update) }
        }
    }

    @Test("What segments repeat is stored once", arguments: [false, true])
    func repeatedContentIsStoredOnce(batch: Bool) async throws {
        let engine = try await open(32)
        try await rewrite(engine, rounds: 0..<6, batch: batch)
        try await sealing(engine)
        let bases = try await bases(engine)
        #expect(bases.count { $0 != 0 } >= bases.count / 2, "\(bases)")
        let before = try await log(engine)
        let sizes = "SELECT CAST(avg(length(body)) AS INTEGER) FROM storage_log WHERE sealed = 1 AND base"
        let with = try await engine.integer(sizes + " <> 0") ?? 0
        #expect(with * 10 < (try await engine.integer(sizes + " = 0") ?? 0) * 8)
        try await engine.close()

        // Forward, backward, by row, in outlines, by another process, and after more of the same.
        let again = try await open(32)
        #expect(try await log(again) == before)
        try await again.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            var backward: [ClosedRange<Int64>] = []
            try reader.forEachBatch(in: 1...writer.head.position, descending: true) {
                backward.append($0.positions)
                return true
            }
            #expect(backward.first?.upperBound == writer.head.position)
            #expect(backward.last?.lowerBound == 1)
            try reader.forEachOutline(in: 1...writer.head.position) { outline in
                let batch = try #require(try reader.batch(containing: outline.header.first))
                #expect(batch.header == outline.header)
                #expect(outline.commit(ofEvent: 0) == batch.commit(ofEvent: 0))
                return true
            }
            let entity = try #require(writer.catalog.entity(named: "t"))
            var versions = 0
            try reader.forEachVersion(of: [.integer(3)], in: entity) { _, _ in
                versions += 1
                return true
            }
            #expect(versions == before.count { $0.entity == entity.id && $0.key == [.integer(3)] })
        }
        try await rewrite(again, rounds: 6..<8, batch: batch)
        try await sealing(again)
        try await again.close()
    }

    @Test("A base must be worth it")
    func baseMustBeWorthIt() async throws {
        let engine = try await open(16)
        var random = SplitMix64(seed: 3)
        for id in 0..<200 {
            let text = (0..<20).map { _ in String(random.next(), radix: 36) }.joined()
            try await engine.commit("INSERT INTO t(id, v) VALUES (\(id), '\(text)')")
        }
        try await sealing(engine)
        let bases = try await bases(engine)
        #expect(bases.count > 5, "\(bases)")
        #expect(bases.allSatisfy { $0 == 0 }, "\(bases)")
        try await engine.close()
    }

    /// A base that isn't what it was, or that there can't be, is damage and never another history.
    @Test(
        "A wrong base is damage",
        arguments: [
            "UPDATE storage_log SET base = 12345 WHERE base <> 0",
            "UPDATE storage_log SET base = position WHERE base <> 0",
            "UPDATE storage_log SET base = 0 WHERE base <> 0", "UPDATE storage_log SET base = -1 WHERE base <> 0",
            "UPDATE storage_log SET base = last + 1 WHERE base <> 0",
            "UPDATE storage_log SET sealed = 0 WHERE position IN (SELECT base FROM storage_log)",
        ])
    func wrongBase(sql: String) async throws {
        let engine = try await open(32)
        try await rewrite(engine, rounds: 0..<3, batch: false)
        try await engine.seal()
        try await engine.close()
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            db.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try db.execute(sql: sql)
        }
        // Here, and not when its last user lets go of it, which may be beside the next opening.
        try foreign.close()
        let again = try await open(32)
        let error = await #expect(throws: StorageError.self) { try await log(again) }
        #expect(error?.code == .corrupt)
        try await again.close()
    }
}
