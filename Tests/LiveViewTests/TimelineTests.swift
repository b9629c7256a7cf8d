import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Views of the past that are taken through history.
@MainActor @Suite struct TimelineTests {
    private func history(_ seed: UInt64) async throws -> Storage {
        var generator = SplitMix64(seed: seed)
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(CardRecord.self)
            schema.addFullTextSearch(table: "cards", columns: ["title"])
        }.facade
        for _ in 0..<25 {
            let cards = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                Card(
                    id: Int.random(in: 0..<12, using: &generator), title: "card \(generator.next() % 7)",
                    lane: ["todo", "done"].randomElement(using: &generator) ?? "", rank: Double(generator.next() % 5))
            }
            let gone = Int.random(in: 0..<12, using: &generator)
            try await storage.write { tx in
                try tx.save(cards)
                if gone < 6 { try tx.delete(Card.self, id: gone) }
            }
        }
        return storage
    }

    @Test("The present is shown at once")
    func presentIsShownAtOnce() async throws {
        let storage = try await history(1)
        let timeline = try await storage.timeline(from: .position(0))
        let count = CountSubscription(timeline.query(Card.self), start: .immediate)
        #expect(count.count == 0)
        await timeline.goLive()
        #expect(try await count.count == storage.count(Card.self))
        #expect(count.position == storage.head)
    }

    @Test("Views show every moment as it was", arguments: 1...4)
    func everyMomentAsItWas(seed: UInt64) async throws {
        let storage = try await history(seed)
        let timeline = try await storage.timeline(from: .position(0))
        let list = QuerySubscription(
            timeline.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank).limit(4), start: .immediate)
        let page = PaginatedQuerySubscription(
            timeline.query(Card.self).orderBy(\.title, .descending), pageSize: 3, start: .immediate)
        let search = SearchSubscription(timeline.query(Card.self), configuration: .fullText(debounceInterval: 0))
        search.searchText = "3 "
        try await eventually { !search.isSearching }
        #expect(list.items.isEmpty)
        #expect(page.totalCount == 0)
        var rows: [Card] = []
        var differences = list.differences.makeAsyncIterator()
        try #require(await differences.next()).apply(to: &rows)
        func compare() async throws {
            let past = try await storage.asOf(.position(timeline.position))
            let wanted = try await past.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank).limit(4).fetch()
            #expect(list.items == wanted)
            let all = try await past.query(Card.self).orderBy(\.title, .descending).fetch()
            #expect(page.totalCount == all.count)
            #expect(page.currentPage == Array(all.prefix(3)))
            let found = try await past.search(Card.self, query: "3").map(\.entity)
            #expect(Set(search.results) == Set(found))
            let count = try await timeline.query(Card.self).count()
            #expect(count == all.count)
        }
        var commits = 0
        while let commit = try await timeline.stepForward() {
            commits += 1
            #expect(commit.number > 0)
            try await compare()
        }
        #expect(commits >= 25)
        #expect(!search.isSearching)
        for _ in 0..<5 {
            try await timeline.stepBack()
            try await compare()
        }
        try await timeline.move(to: .position(9))
        try await compare()
        #expect(try await timeline.stepBack() != nil)
        try await compare()
        // The differences lead to what is shown, in either direction.
        while rows != list.items { try #require(await differences.next()).apply(to: &rows) }
    }

    @Test("History is played and then followed")
    func playingThenFollowing() async throws {
        let storage = try await history(9)
        let timeline = try await storage.timeline(from: .commit(10))
        let list = QuerySubscription(timeline.query(Card.self), start: .immediate)
        let seen = Seen()
        try await timeline.play(.commitsPerSecond(10_000)) { commit in await seen.add(commit.number) }
        #expect(timeline.isLive)
        #expect(await seen.numbers == Array(11...Int64(26)))
        let live = try await storage.query(Card.self).fetch()
        #expect(list.items == live)
        var snapshots = list.snapshots.makeAsyncIterator()
        _ = await snapshots.next()
        try await storage.save(Card(id: 77, title: "live", lane: "", rank: nil))
        #expect(await snapshots.next()?.last?.id == 77)
        // And back again.
        try await timeline.move(to: .commit(12))
        let past = try await storage.asOf(.commit(12)).query(Card.self).fetch()
        #expect(!timeline.isLive)
        #expect(list.items == past)
        try await storage.save(Card(id: 78, title: "unseen", lane: "", rank: nil))
        #expect(try await timeline.stepForward()?.number == 13)
    }

    /// A table that a migration has made compares as it does now, at each moment and when the store is followed again.
    @Test("Texts compare by the collation of their columns")
    func collationsOfColumns() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(CardRecord.self)
            $0.migration("cards without case") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE new_cards (
                            id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL COLLATE NOCASE, lane TEXT NOT NULL, rank REAL,
                            updatedAt DATETIME NOT NULL);
                        DROP TABLE cards;
                        ALTER TABLE new_cards RENAME TO cards;
                        """)
            }
        }.facade
        for (id, title) in ["b", "A", "a", "B"].enumerated() {
            try await storage.save(Card(id: id, title: title, lane: "todo", rank: nil))
        }
        let all = storage.head
        try await storage.save(Card(id: 9, title: "c", lane: "todo", rank: nil))
        let timeline = try await storage.timeline(from: .position(all))
        let query = timeline.query(Card.self)
        let list = QuerySubscription(query.orderBy(\.title), start: .immediate)
        let totals = GroupedAggregationSubscription(query, .count, groupedBy: \.title, start: .immediate)
        let found = QuerySubscription(query.where { $0.title == "A" }, start: .immediate)
        func compare(_ ids: [Int]) {
            #expect(list.items.map(\.id) == ids)
            #expect(found.items.map(\.title) == ["A", "a"])
            #expect(totals.groups.map { $0.key.lowercased() } == (ids.count > 4 ? ["a", "b", "c"] : ["a", "b"]))
        }
        let past = try await storage.asOf(.position(all)).query(Card.self).orderBy(\.title).fetch()
        #expect(past == list.items)
        compare([1, 2, 0, 3])
        try await timeline.stepBack()
        #expect(list.items.map(\.id) == [1, 2, 0])
        try await timeline.stepForward()
        compare([1, 2, 0, 3])
        await timeline.goLive()
        compare([1, 2, 0, 3, 9])
        await timeline.subscriptions.catchUp(isUrgent: true)
        try await storage.save(Card(id: 7, title: "C", lane: "todo", rank: nil))
        await timeline.subscriptions.catchUp(isUrgent: true)
        timeline.subscriptions.deliveryQueue.drain()
        compare([1, 2, 0, 3, 7, 9])
        #expect(totals.groups.map(\.value) == [2, 2, 2])
    }

    @Test("Moments before a conversion are shown as they are read", .timeLimit(.minutes(10)))
    func momentsBeforeConversion() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let (storage, before) = try await Dials.converted(in: folder)
        try await storage.save(Dials.Later.Dial(id: 2, level: 8))
        let timeline = try await storage.timeline(from: .position(before))
        let list = QuerySubscription(timeline.query(Dials.Later.Dial.self).orderBy(\.id), start: .immediate)
        let past = try await storage.asOf(.position(before)).query(Dials.Later.Dial.self).orderBy(\.id).fetch()
        #expect(past.map(\.level) == [4, 7])
        #expect(list.error == nil)
        #expect(list.items == past)
        while try await timeline.stepForward() != nil { #expect(list.error == nil) }
        #expect(list.items.map(\.level) == [4, 8])
        try await timeline.move(to: .position(before))
        #expect(list.items == past)
        try await storage.close()
    }

    @Test("Steps at the same time are one after another")
    func stepsAtTheSameTime() async throws {
        let storage = try await history(9)
        let timeline = try await storage.timeline(from: .commit(10))
        func numbers(_ step: @escaping @Sendable () async throws -> Int64?) async throws -> [Int64] {
            let steps = (0..<8).map { _ in Task { try await step() } }
            var numbers: [Int64] = []
            for step in steps { numbers.append(try #require(try await step.value)) }
            return numbers.sorted()
        }
        let begun = timeline.position
        let forward = try await numbers { try await timeline.stepForward()?.number }
        #expect(forward == Array(11...18))
        let back = try await numbers { try await timeline.stepBack()?.number }
        #expect(back == Array(11...18))
        #expect(timeline.position == begun)
    }

    /// What goes live between two commits isn't led back into history.
    @Test("Going live ends the playing")
    func goingLiveEndsPlaying() async throws {
        let storage = try await history(9)
        let timeline = try await storage.timeline(from: .commit(1))
        let seen = Seen()
        let (steps, step) = AsyncStream<Void>.makeStream()
        let playing = Task {
            try await timeline.play(.commitsPerSecond(20)) { commit in
                await seen.add(commit.number)
                step.yield()
            }
        }
        var shown = steps.makeAsyncIterator()
        _ = await shown.next()
        await timeline.goLive()
        let count = await seen.numbers.count
        try await playing.value
        #expect(timeline.isLive)
        // One may have been shown before, and not been seen yet.
        #expect(await seen.numbers.count <= count + 1)
    }

    private actor Seen {
        var numbers: [Int64] = []
        func add(_ number: Int64) { numbers.append(number) }
    }
}
