import Foundation
import GRDB
import StorageCore
import Testing

@testable import StorageLog

/// Sealing changes the bytes of the log and nothing else, however large its rows are, and holds the writer for short times
/// only.
@Suite struct SealingTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open(_ length: Int) async throws -> StorageEngine {
        var configuration = TestStore.configuration(segmentLength: length)
        configuration.sealsInBackground = false
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
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

    @Test(arguments: [1, 4, 64]) func smallRowsBecomeOne(length: Int) async throws {
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
    @Test func metadataCountsForTheLengthOfARow() async throws {
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

    @Test func largeRowsStayAsTheyAre() async throws {
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

    @Test func aLargeBatchIsWrittenInItsFinalForm() async throws {
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

    /// Nothing is deleted for what doesn't decode to the same.
    @Test func rowsThatCannotBeReadAreLeftAlone() async throws {
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

    @Test func commitsGoOnWhileWindowsAreSealed() async throws {
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
}
