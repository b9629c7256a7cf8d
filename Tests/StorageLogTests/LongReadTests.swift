import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// Rows of the log that are decoded ahead on another thread come as if they were decoded one by one.
@Suite struct LongReadTests {
    /// Reads a store whose log has `rows` sealed rows of 16 events each, and a short one or two.
    private func read(
        rows: Int, _ body: @escaping @Sendable (LogReader, LogWriter, Database) throws -> Void
    ) async throws {
        let engine = try TestStore.inMemory(segmentLength: 16)
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows * 16))
            INSERT INTO t(id, v) SELECT i, 'row ' || i FROM n
            """)
        try await engine.seal()
        try await engine.withWriter { writer, db in try body(LogReader(writer.database), writer, db) }
        try await engine.close()
    }

    @Test("Rows come in order, forward and backward", arguments: [1, 2, 3, 4, 5, 40])
    func forwardAndBackward(rows: Int) async throws {
        try await read(rows: rows) { reader, _, _ in
            let head = try reader.head().position
            let forward = try reader.rows(1...head)
            #expect(forward.count >= rows)
            #expect(forward.flatMap { Array($0) } == Array(1...head))
            #expect(try reader.rows(1...head, descending: true) == forward.reversed())
        }
    }

    @Test("A read that ends early passes on no more")
    func earlyEnd() async throws {
        try await read(rows: 12) { reader, _, _ in
            let all = try reader.rows(1...Int64.max)
            for count in 1...all.count {
                #expect(try reader.rows(1...Int64.max, limit: count) == Array(all.prefix(count)))
            }
        }
    }

    /// A reader may read the log while it reads, also at length.
    @Test("Reads nest")
    func nestedReads() async throws {
        try await read(rows: 8) { reader, _, _ in
            let all = try reader.rows(1...Int64.max)
            try reader.forEachBatch(in: 1...Int64.max) { batch in
                let rest = try reader.rows(batch.header.first...Int64.max)
                #expect(rest == all.filter { $0.lowerBound >= batch.header.first })
                return true
            }
        }
    }

    @Test("After the last row, there is none, however often it is asked for")
    func afterTheEnd() async throws {
        try await read(rows: 5) { reader, _, _ in
            let batches = try BatchIterator(1...Int64.max, of: reader)
            var seen: [ClosedRange<Int64>] = []
            while let batch = try batches.next() { seen.append(batch.positions) }
            #expect(try seen == reader.rows(1...Int64.max))
            for _ in 1...3 { #expect(try batches.next() == nil) }
        }
    }

    @Test("Rows that aren't wanted any more are skipped, except for those that are decoded already")
    func changingWants() async throws {
        try await read(rows: 40) { reader, _, _ in
            let all = try reader.rows(1...Int64.max)
            let batches = try BatchIterator(1...Int64.max, of: reader)
            var seen: [ClosedRange<Int64>] = []
            for _ in 1...20 { seen.append(try #require(try batches.next()).positions) }
            #expect(seen == Array(all.prefix(20)))
            while let batch = try batches.next(where: { _ in false }) { seen.append(batch.positions) }
            #expect(seen == Array(all.prefix(seen.count)))
            #expect(seen.count < all.count)
        }
    }

    /// What lies before the damage is handed over, whole and once; then comes the error.
    @Test("Damage is reported where it is", arguments: 0..<12)
    func locationOfDamage(place: Int) async throws {
        try await read(rows: 12) { reader, writer, db in
            let all = try reader.rows(1...Int64.max)
            try writer.maintenance(db, changesSchema: false) {
                try PreparedStatement(
                    writer.database,
                    "UPDATE storage_log SET body = substr(body, 1, length(body) - 3) || x'010203' WHERE position = ?"
                ).run(all[place].lowerBound)
            }
            let seen = RowsSeen()
            do {
                try reader.forEachBatch(in: 1...Int64.max) {
                    seen.rows.append($0.positions)
                    return true
                }
                Issue.record("The damage wasn't found.")
            } catch let error as StorageError {
                #expect(error.code == .corrupt)
            }
            #expect(seen.rows == Array(all.prefix(place)))
        }
    }
}

private final class RowsSeen {
    var rows: [ClosedRange<Int64>] = []
}

extension LogReader {
    /// The positions of the rows of the log, as they come.
    func rows(
        _ positions: ClosedRange<Int64>, descending: Bool = false, limit: Int = .max
    ) throws -> [ClosedRange<Int64>] {
        let seen = RowsSeen()
        try forEachBatch(in: positions, descending: descending) { batch in
            seen.rows.append(batch.positions)
            return seen.rows.count < limit
        }
        return seen.rows
    }
}

/// Long reads have connections of their own.
@Suite struct LongReadLaneTests {
    @Test("Others don't wait for long reads")
    func othersDoNotWait() async throws {
        let folder = try TemporaryFolder()
        var configuration = TestStore.configuration()
        configuration.readerCount = 1
        configuration.longReaderCount = 2
        let engine = try StorageEngine.open(path: folder.path(), configuration: configuration)
        try await engine.commit("CREATE TABLE x(y); INSERT INTO x VALUES (7)")
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Int>.makeStream()
        let long = (0..<4).map { number in
            Task {
                try await engine.readLong { _ in
                    entry.yield(number)
                    gate.wait()
                }
            }
        }
        var begun = 0
        for await _ in entered {
            begun += 1
            if begun == 2 { break }
        }
        for _ in 0..<10 { #expect(try await engine.read { try Int.fetchOne($0, sql: "SELECT y FROM x") } == 7) }
        // One that waits for its turn can be cancelled.
        long[3].cancel()
        let waiting = Task { try await engine.readLong { _ in } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        for _ in 0..<4 { gate.signal() }
        var finished = 0
        for task in long where (try? await task.value) != nil { finished += 1 }
        #expect(finished >= 3)
        try await engine.readLong { _ in }
        try await engine.close()
    }
}
