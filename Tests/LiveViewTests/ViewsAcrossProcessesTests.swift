import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Views of a store that another process writes to miss nothing and repeat nothing, whatever becomes of that process.
///
/// Readers have a heartbeat of an hour here: where a wake-up were lost, the test would stand still until its time is over.
@MainActor @Suite(.serialized, .timeLimit(.minutes(30))) struct ViewsAcrossProcessesTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("store.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// What a reader of differences and one of events make of what they get.
    private final class Reported {
        var rows: [Mark] = []
        var marks: [StorageValue: [String: StorageValue]] = [:]
        /// Events that don't fit those before.
        var faults: [String] = []

        func take(_ event: ChangeEvent) {
            switch event {
            case .inserted(_, let id, let data, _):
                if marks.updateValue(data, forKey: id) != nil { faults.append("inserted twice: \(id)") }
            case .updated(_, let id, let changes, _):
                guard var row = marks[id] else { return faults.append("updated before it was reported: \(id)") }
                for (column, change) in changes {
                    if row[column] != change.old { faults.append("\(column) of \(id) was another") }
                    row[column] = change.new
                }
                marks[id] = row
            case .deleted(_, let id, let data, _):
                if marks.removeValue(forKey: id) != data { faults.append("deleted as another: \(id)") }
            case .bulkChange, .schemaChange: faults.append("reported as a whole: \(event)")
            }
        }
    }

    /// The writer is killed again and again, at any moment; the views live through all of it.
    @Test("A killed writer leaves views correct")
    func killedWriter() async throws {
        let first = try Worker(store: path, mode: "hold", prefix: "x")
        #expect(try await first.waitForLines(1))
        _ = first.kill()
        let storage = try quietReader(at: path)
        let page = QuerySubscription(
            storage.query(Mark.self).orderBy(\.number, .descending).orderBy(\.id).limit(15), start: .immediate)
        let count = CountSubscription(storage.query(Mark.self), start: .immediate)
        let batches = GroupedAggregationSubscription(
            storage.query(Mark.self), .count, .max(\.number), groupedBy: \.batch, start: .immediate)
        let reported = Reported()
        var differences = page.differences.makeAsyncIterator()
        try #require(await differences.next()).apply(to: &reported.rows)
        let events = try await storage.changeNotifier.events(for: Mark.self, limit: 1_000_000)
        let reading = Task { for await event in events { reported.take(event) } }

        for round in 0..<max(4, Int(4 * testScale)) {
            let mode = round % 2 == 0 ? "batch" : "single"
            let worker = try Worker(store: path, mode: mode, prefix: "\(round)")
            #expect(try await worker.waitForLines(2))
            // Killed at any moment.
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...60)))
            _ = worker.kill()
            // The next opening makes the store whole; nothing else announces what was written last.
            let next = try Worker(store: path, mode: "asked", prefix: "after \(round)")
            #expect(try await next.waitForLines(1))
            try next.ask(for: 1)
            // For its group, because the count stays as it was where what was killed had deleted a row unseen.
            try await eventually { batches["after \(round)"] != nil }
            _ = next.kill()
            await storage.subscriptions.catchUp(isUrgent: true)
            storage.subscriptions.deliveryQueue.drain()

            let all = try await storage.query(Mark.self).fetch()
            #expect(count.count == all.count)
            let wanted = try await storage.query(Mark.self).orderBy(\.number, .descending).orderBy(\.id).limit(15)
                .fetch()
            #expect(page.items == wanted)
            while reported.rows != wanted { try #require(await differences.next()).apply(to: &reported.rows) }
            let groups = Dictionary(grouping: all, by: \.batch)
            #expect(batches.groups.map(\.key) == groups.keys.sorted())
            for group in batches.groups {
                #expect(group.value.0 == groups[group.key]?.count)
                #expect(group.value.1 == groups[group.key]?.map(\.number).max())
            }
        }
        let rows = Dictionary(uniqueKeysWithValues: try await storage.query(Mark.self).fetch().map { ($0.id, $0) })
        try await eventually { reported.marks.count == rows.count }
        try await storage.close()
        await reading.value
        #expect(reported.faults.isEmpty, "\(reported.faults.prefix(3))")
        for (id, row) in reported.marks {
            #expect(try row["number"] == rows[String(storageValue: id)].map { .integer(Int64($0.number)) })
        }
    }

    /// Each commit is asked for only when the view has shown all that were asked for before, so that it comes to a reader that
    /// sleeps or is going to.
    @Test("Every commit of another process is shown")
    func everyForeignCommitIsShown() async throws {
        let writer = try Worker(store: path, mode: "asked", prefix: "x")
        #expect(try await writer.waitForLines(1))
        let storage = try quietReader(at: path)
        let newest = SingleQuerySubscription(storage.query(Mark.self).orderBy(\.number, .descending), start: .immediate)
        var snapshots = newest.snapshots.makeAsyncIterator()
        #expect(try #require(await snapshots.next()) == nil)
        var differences = newest.differences.makeAsyncIterator()
        var rows: [Mark] = []
        try #require(await differences.next()).apply(to: &rows)
        // 10,000 where the suite runs at twenty times its everyday size.
        for number in 1...max(100, Int((testScale > 1 ? 500 : 150) * testScale)) {
            try writer.ask(for: 1)
            #expect(try #require(await snapshots.next())?.number == number)
            try #require(await differences.next()).apply(to: &rows)
            #expect(rows.map(\.number) == [number])
        }
        try await storage.close()
        #expect(await snapshots.next() == nil)
        _ = writer.kill()
    }
}
