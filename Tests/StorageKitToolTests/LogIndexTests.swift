import Foundation
import GRDB
import StorageCore
import StorageKit
import TestSupport
import Testing

@testable import StorageKitTool
@testable import StorageLog

/// Finding commits and times, with commits that end and begin everywhere in the rows of the log.
@Suite struct LogIndexTests {
    /// What was committed.
    private struct Made: Sendable {
        let number: Int64
        let positions: ClosedRange<Int64>
        let time: Int64
    }

    @Test("Commits are found by number, position and time", arguments: [1, 2, 4, 1024])
    func commitsAreFound(segmentLength: Int) async throws {
        let store = try await SampleStore(segmentLength: segmentLength)
        let engine = try SampleStore.open(store.path, segmentLength: segmentLength)
        var random = SplitMix64(seed: UInt64(segmentLength))
        var made: [Made] = []
        var time = SampleStore.start + 1_000_000_000_000
        for _ in 0..<60 {
            // Neighbours may share a time.
            time += Int64(random.next() % 3) * 5
            let rows = [1, 2, 3, 5, 20][Int(random.next() % 5)]
            let receipt = try await engine.commit(CommitMetadata(), at: time) { _, db in
                for _ in 0..<rows { try db.execute(sql: "INSERT INTO users(name) VALUES ('x')") }
            }
            made.append(
                Made(number: receipt.commit ?? 0, positions: receipt.first...receipt.last, time: receipt.time))
            if random.next() % 7 == 0 { try await engine.seal() }
        }
        for isSealed in [false, true] {
            if isSealed { try await engine.seal() }
            let expected = made
            try await engine.readHistory { try Self.check($0, expected) }
        }
        try await engine.close()
    }

    @Test("Changes of a commit are the same, however many segments it is in")
    func changesInSegments() async throws {
        var answers: [[String]] = []
        for segmentLength in [1024, 4, 2] {
            let store = try await SampleStore(segmentLength: segmentLength)
            let engine = try SampleStore.open(store.path, segmentLength: segmentLength)
            for rows in [1, 20, 3] {
                _ = try await engine.commit(CommitMetadata()) { _, db in
                    for row in 0..<rows { try db.execute(sql: "INSERT INTO users(name) VALUES (?)", arguments: [row]) }
                }
            }
            try await engine.close()
            answers.append(
                try [["-p"], ["-p", "--reverse"], ["-p", "users", "--format", "jsonl"]].map {
                    try ToolProcess.run(["log"] + $0, store: store.path).output
                })
        }
        #expect(answers[0].allSatisfy { !$0.isEmpty })
        #expect(answers[1] == answers[0])
        #expect(answers[2] == answers[0])
    }

    /// Segments that aren't read can't be missed: they are damaged.
    @Test("The newest changes of rows are found without their earlier ones")
    func newestVersions() async throws {
        let store = try await SampleStore(segmentLength: 4)
        let engine = try SampleStore.open(store.path, segmentLength: 4)
        for number in 0..<40 {
            _ = try await engine.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "UPDATE users SET name = 'n\(number)' WHERE id = 7")
                try db.execute(sql: "UPDATE posts SET views = \(number) WHERE id = 'b'")
            }
        }
        try await engine.seal()
        func answers() throws -> [String] {
            try [["users/7"], ["posts/b", "users/7", "posts/b", "--op", "update"]].map { rows in
                let outcome = try ToolProcess.run(
                    ["log", "-3", "-p", "--format", "jsonl"] + rows, store: store.path)
                #expect(outcome.output.split(separator: "\n").count == 3, "\(outcome.errors)")
                return outcome.output
            }
        }
        let before = try answers()
        try await engine.withWriter { writer, db in
            try writer.maintenance(db, changesSchema: false) {
                try db.execute(
                    sql: """
                        UPDATE storage_log SET body = substr(body, 1, 9) || zeroblob(60)
                        WHERE last < 60 AND position NOT IN (SELECT base FROM storage_log)
                        """)
            }
        }
        try await engine.close()
        #expect(try answers() == before)
        #expect(try ToolProcess.run(["log", "users/7", "--reverse"], store: store.path).status != 0)
    }

    private static func check(_ store: HistoryReader, _ made: [Made]) throws {
        for commit in made {
            let found = try #require(try store.index.commit(commit.number))
            #expect(found.positions == commit.positions)
            #expect(found.info.number == commit.number)
            for position in [commit.positions.lowerBound, commit.positions.upperBound] {
                #expect(try store.index.commit(at: position)?.positions == commit.positions)
            }
            for time in [commit.time - 1, commit.time, commit.time + 1] {
                let last = made.last { $0.time <= time }?.positions.upperBound ?? made[0].positions.lowerBound - 1
                #expect(try store.index.lastPosition(atOrBefore: time) == last)
            }
        }
        #expect(try store.index.commit(store.head.commit + 1) == nil)
        #expect(try store.index.commit(0) == nil)
        #expect(try store.index.lastPosition(atOrBefore: 0) == 0)
        for isDescending in [false, true] {
            var filter = ChangeFilter(
                logRange: LogRange(after: made[0].positions.lowerBound - 1, through: store.head.position))
            filter.query.positions = filter.logRange.positions
            var found: [(Int64, ClosedRange<Int64>, Int)] = []
            try ChangeScan(store: store, filter: filter).forEachCommit(descending: isDescending) { entry, _ in
                found.append((entry.number, entry.positions, entry.changes.values.first?.insert ?? 0))
                return true
            }
            let expected = isDescending ? made.reversed() : made
            #expect(found.map(\.0) == expected.map(\.number))
            #expect(found.map(\.1) == expected.map(\.positions))
            #expect(found.map(\.2) == expected.map(\.positions.count))
        }
    }
}
