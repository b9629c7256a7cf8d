import StorageCore
import Testing

@testable import StorageLog

/// Rows of the log that are decoded ahead on another thread come as if they were decoded one by one.
@Suite struct LongReadTests {
    /// A store whose log has `rows` sealed rows of 16 events each.
    private func store(rows: Int) async throws -> StorageEngine {
        let engine = try TestStore.inMemory(segmentLength: 16)
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows * 16))
            INSERT INTO t(id, v) SELECT i, 'row ' || i FROM n
            """)
        try await engine.seal()
        return engine
    }

    @Test(arguments: [1, 2, 3, 4, 5, 40])
    func rowsComeInTheirOrderForwardAndBack(rows: Int) async throws {
        let engine = try await store(rows: rows)
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            let head = try reader.head().position
            var forward: [ClosedRange<Int64>] = []
            try reader.forEachBatch(in: 1...head) {
                forward.append($0.positions)
                return true
            }
            #expect(forward.flatMap { Array($0) } == Array(1...head))
            var back: [ClosedRange<Int64>] = []
            try reader.forEachBatch(in: 1...head, descending: true) {
                back.append($0.positions)
                return true
            }
            #expect(back == forward.reversed())
        }
        try await engine.close()
    }

    @Test func aReadThatEndsEarlyHandsOverNoMore() async throws {
        let engine = try await store(rows: 12)
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            for wanted in 1...12 {
                var count = 0
                try reader.forEachBatch(in: 1...Int64.max) { _ in
                    count += 1
                    return count < wanted
                }
                #expect(count == wanted)
            }
        }
        try await engine.close()
    }

    /// Whoever reads may read the log while doing so, also at length.
    @Test func readsNest() async throws {
        let engine = try await store(rows: 8)
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            var inner = 0
            try reader.forEachBatch(in: 1...Int64.max) { outer in
                try reader.forEachBatch(in: outer.header.first...Int64.max) { batch in
                    inner += batch.count
                    return true
                }
                return true
            }
            let head = try reader.head().position
            var expected = 0
            try reader.forEachBatch(in: 1...head) { batch in
                expected += Int(head - batch.header.first + 1)
                return true
            }
            #expect(inner == expected)
        }
        try await engine.close()
    }

    /// What lies before the damage is handed over, whole and once; then comes the error.
    @Test(arguments: 0..<12)
    func damageIsToldWhereItLies(place: Int) async throws {
        let engine = try await store(rows: 12)
        try await engine.withWriter { writer, db in
            let reader = LogReader(writer.database)
            var firsts: [Int64] = []
            try reader.forEachBatch(in: 1...Int64.max) {
                firsts.append($0.header.first)
                return true
            }
            let damaged = firsts[place]
            try writer.maintenance(db, changesSchema: false) {
                try Statement(
                    writer.database,
                    "UPDATE storage_log SET body = substr(body, 1, length(body) - 3) || x'010203' WHERE position = ?"
                ).run(damaged)
            }
            var seen: Int64 = 0
            let error = #expect(throws: StorageError.self) {
                try reader.forEachBatch(in: 1...Int64.max) {
                    #expect($0.header.first == seen + 1)
                    seen = $0.header.last
                    return true
                }
            }
            #expect(error?.code == .corrupt)
            #expect(seen == damaged - 1)
        }
        try await engine.close()
    }
}
