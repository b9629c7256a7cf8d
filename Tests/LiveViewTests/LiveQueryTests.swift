import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

@StorageEntity
struct WireCard: Hashable, Codable {
    var id: Int
    var lane: String
    var rank: Int
}

/// Queries that are followed from any actor.
@Suite struct LiveQueryTests {
    private static func card(_ id: Int, _ lane: String = "todo", rank: Double? = nil) -> Card {
        Card(id: id, title: "card \(id)", lane: lane, rank: rank ?? Double(id))
    }

    private func open(_ cards: some Sequence<Card>) async throws -> Storage {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(CardRecord.self)
            $0.addFullTextSearch(table: "cards", columns: ["title"])
        }.facade
        try await storage.save(Array(cards))
        return storage
    }

    // MARK: Kinds

    @Test("A list is read now and after each change")
    func list() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let query = storage.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank, .descending).limit(3)
        var snapshots = query.live().snapshots.makeAsyncIterator()
        var differences = query.live().differences.makeAsyncIterator()
        var cards: [Card] = []
        func expect(_ ids: [Int]) async throws {
            #expect(try await snapshots.next()?.map(\.id) == ids)
            let difference = try #require(await differences.next())
            #expect(difference.fits(cards))
            difference.apply(to: &cards)
            #expect(cards.map(\.id) == ids)
        }
        try await expect([4, 3, 2])
        try await storage.save(Self.card(9))
        try await expect([9, 4, 3])
        try await storage.delete(Card.self, id: 4)
        try await expect([9, 3, 2])
        try await storage.save(Self.card(3, "done"))
        try await expect([9, 2, 1])
    }

    @Test("The first row is nil while there is none")
    func first() async throws {
        let storage = try await open([])
        var rows = storage.query(Card.self).orderBy(\.rank).liveFirst().differences.makeAsyncIterator()
        let none = try #require(await rows.next())
        #expect(none.new == nil)
        try await storage.save(Self.card(3))
        let one = try #require(await rows.next())
        #expect(one.old == .some(nil))
        #expect(one.new?.id == 3)
        try await storage.delete(Card.self, id: 3)
        #expect(try await rows.next()?.new == .some(nil))
    }

    @Test("Rows are counted and summed up")
    func aggregates() async throws {
        let storage = try await open((0..<5).map { Self.card($0, $0 < 2 ? "done" : "todo") })
        let query = storage.query(Card.self)
        var counts = query.where { $0.lane == "todo" }.liveCount().differences.makeAsyncIterator()
        var totals = query.liveAggregates(.count, .sum(\.rank)).snapshots.makeAsyncIterator()
        var lanes = query.liveAggregates(.count, .max(\.rank), groupedBy: \.lane).snapshots.makeAsyncIterator()
        #expect(try await counts.next()?.new == 3)
        #expect(try await totals.next().map { "\($0)" } == "(5, 10.0)")
        #expect(try await lanes.next()?.map { "\($0.key) \($0.value.0)" } == ["done 2", "todo 3"])
        try await storage.save(Self.card(7, "new"))
        try await storage.save(Self.card(8))
        #expect(try await counts.next()?.new == 4)
        var total = try await totals.next()
        while total?.0 == 6 { total = try await totals.next() }
        #expect(total.map { "\($0)" } == "(7, 25.0)")
        var groups = try await lanes.next()
        while groups?.last?.value.0 == 3 { groups = try await lanes.next() }
        #expect(groups?.map { "\($0.key) \($0.value.0)" } == ["done 2", "new 1", "todo 4"])
    }

    @Test("Rows are read in groups")
    func groups() async throws {
        let storage = try await open((0..<5).map { Self.card($0, $0 < 2 ? "done" : "todo") })
        let live = storage.query(Card.self).orderBy(\.rank).liveGroups(
            by: \.lane, configuration: .init(maxItemsPerGroup: 2))
        var differences = live.differences.makeAsyncIterator()
        var sections: [GroupSection<String, Card>] = []
        try await differences.next()?.apply(to: &sections)
        #expect(
            sections.map { "\($0.key) \($0.items.map(\.id)) of \($0.count)" } == [
                "done [0, 1] of 2", "todo [2, 3] of 3",
            ])
        try await storage.save(Self.card(2, "done"))
        try await differences.next()?.apply(to: &sections)
        #expect(
            sections.map { "\($0.key) \($0.items.map(\.id)) of \($0.count)" } == [
                "done [0, 1] of 3", "todo [3, 4] of 2",
            ])
    }

    @Test("Texts are searched for", arguments: [true, false])
    func search(inColumns: Bool) async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let live = storage.query(Card.self).where { $0.lane == "todo" }.liveSearch(
            "card 3", configuration: inColumns ? .init(searchFields: ["title"]) : .fullText())
        var snapshots = live.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.map(\.entity.id) == [3])
        try await storage.save(Card(id: 8, title: "another card 3", lane: "todo", rank: 0))
        #expect(try await snapshots.next().map { Set($0.map(\.entity.id)) } == [3, 8])
    }

    @Test("A limit that no table reaches finds all rows, and such an offset none")
    func unreachableWindows() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let query = storage.query(Card.self).orderBy(\.rank)
        var all = query.limit(.max).live().snapshots.makeAsyncIterator()
        var rest = query.limit(1 << 62).offset(2).live().snapshots.makeAsyncIterator()
        var none = query.limit(.max).offset(.max).live().snapshots.makeAsyncIterator()
        var found = storage.query(Card.self).liveSearch(
            "card", configuration: .init(searchFields: ["title"], maxResults: .max)
        ).snapshots.makeAsyncIterator()
        #expect(try await all.next()?.map(\.id) == [0, 1, 2, 3, 4])
        #expect(try await rest.next()?.map(\.id) == [2, 3, 4])
        #expect(try await none.next()?.isEmpty == true)
        #expect(try await found.next()?.count == 5)
        try await storage.save(Self.card(9))
        #expect(try await all.next()?.map(\.id) == [0, 1, 2, 3, 4, 9])
        #expect(try await rest.next()?.map(\.id) == [2, 3, 4, 9])
        #expect(try await found.next()?.count == 6)
        #expect(try await query.page(size: .max).items.count == 6)

        let library = try await Library.filled()
        let included = library.query(Novelist.self).orderBy(\.id).include(\.novels) { $0.orderBy(\.id).limit(.max) }
        var novelists = included.live().snapshots.makeAsyncIterator()
        #expect(try await novelists.next()?.map { $0.novels.map(\.id) } == [[1, 2], [3]])
        try await library.delete(Novel.self, id: 1)
        #expect(try await novelists.next()?.map { $0.novels.map(\.id) } == [[2], [3]])
    }

    // MARK: Readers

    @Test("Each reader begins with what there is")
    func severalReaders() async throws {
        let storage = try await open([Self.card(1)])
        let snapshots = storage.query(Card.self).live().snapshots
        var first = snapshots.makeAsyncIterator()
        #expect(try await first.next()?.count == 1)
        try await storage.save(Self.card(2))
        var second = snapshots.makeAsyncIterator()
        #expect(try await second.next()?.count == 2)
        #expect(try await first.next()?.count == 2)
    }

    @Test("A slow reader gets what it missed as one difference")
    func slowReader() async throws {
        let storage = try await open([Self.card(0)])
        var differences = storage.query(Card.self).live().differences.makeAsyncIterator()
        var cards: [Card] = []
        try await differences.next()?.apply(to: &cards)
        for id in 1..<20 { try await storage.save(Self.card(id)) }
        await storage.subscriptions.catchUp()
        let difference = try #require(await differences.next())
        difference.apply(to: &cards)
        #expect(cards.count == 20)
        #expect(difference.whole == nil)
    }

    @Test("Nothing is left of readers that have gone")
    func readersThatHaveGone() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let live = storage.query(Card.self).live()
        var readers = (0..<3).map { _ in live.snapshots.makeAsyncIterator() }
        for index in readers.indices { _ = try await readers[index].next() }
        #expect(await storage.subscriptions.nodeCount == 3)
        readers.removeLast()
        while await storage.subscriptions.nodeCount > 2 { await Task.yield() }
        readers.removeAll()
        while await storage.subscriptions.nodeCount > 0 { await Task.yield() }
        // One that is cancelled while it waits.
        let reading = Task { for try await _ in live.snapshots {} }
        while await storage.subscriptions.nodeCount == 0 { await Task.yield() }
        reading.cancel()
        try await reading.value
        while await storage.subscriptions.nodeCount > 0 { await Task.yield() }
    }

    // MARK: Errors

    @Test("A question without an answer throws")
    func unanswerable() async throws {
        let storage = try await open([])
        let live = storage.query(Card.self).orderBy("colour").live()
        var snapshots = live.snapshots.makeAsyncIterator()
        let thrown = await #expect(throws: StorageError.self) { try await snapshots.next() }
        #expect(thrown?.code == .invalidName)
        #expect(try await snapshots.next() == nil)
        await #expect(throws: StorageError.self) { try await live.explain() }
    }

    @Test(
        "A query that SQLite refuses throws, as when it is read once", .timeLimit(.minutes(10)),
        arguments: [
            "nosuch = 1", "title =", "nosuch(title)", "id IN (SELECT id FROM nosuch)", "count(*) > 1",
        ])
    func refusedBySQLite(condition: String) async throws {
        let storage = try await open([Self.card(1)])
        let query = storage.query(Card.self).where(.sql(condition))
        let thrown = await #expect(throws: StorageError.self) { try await query.fetch() }
        #expect(thrown?.code == .database)
        try await expectFailure(of: query.live(), .database)
        try await expectFailure(of: query.liveFirst(), .database)
        try await expectFailure(of: query.liveCount(), .database)
    }

    @Test("A query beyond a limit throws, as when it is read once", .timeLimit(.minutes(10)))
    func beyondLimit() async throws {
        let storage = try await open([Self.card(1)])
        let query = storage.query(Card.self).where { $0.title.contains(String(repeating: "x", count: 60_000)) }
        let thrown = await #expect(throws: StorageError.self) { try await query.fetch() }
        #expect(thrown?.code == .limitExceeded)
        try await expectFailure(of: query.live(), .limitExceeded)
        let list = await QuerySubscription(query)
        while await list.error == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await list.error?.code == .limitExceeded)
    }

    private func expectFailure<Value, Difference>(
        of live: LiveQuery<Value, Difference>, _ code: StorageError.Code
    ) async throws {
        var snapshots = live.snapshots.makeAsyncIterator()
        let thrown = await #expect(throws: StorageError.self) { try await snapshots.next() }
        #expect(thrown?.code == code)
        #expect(try await snapshots.next() == nil)
    }

    @Test("A negative limit or offset throws, as when the query is read once")
    func negativeWindows() async throws {
        func expectRefusal<Value, Difference>(of live: LiveQuery<Value, Difference>) async {
            var snapshots = live.snapshots.makeAsyncIterator()
            let thrown = await #expect(throws: StorageError.self) { try await snapshots.next() }
            #expect(thrown?.code == .invalidArgument)
        }
        let storage = try await open([Self.card(1)])
        for query in [storage.query(Card.self).limit(-1), storage.query(Card.self).offset(-1)] {
            let thrown = await #expect(throws: StorageError.self) { try await query.fetch() }
            #expect(thrown?.code == .invalidArgument)
            await expectRefusal(of: query.live())
            await expectRefusal(of: query.liveFirst())
            await expectRefusal(of: query.liveCount())
        }
        for configuration in [.init(searchFields: ["title"], maxResults: -1), .fullText(maxResults: -1)]
            as [SearchSubscription<Card>.Configuration]
        {
            await expectRefusal(of: storage.query(Card.self).liveSearch("card", configuration: configuration))
        }
        // Whether there is a row that includes others or not.
        let novelists = try await Library.open().query(Novelist.self)
        await expectRefusal(of: novelists.include(\.novels) { $0.limit(-1) }.live())
        await expectRefusal(of: novelists.has(\.novels, matching: Novel.all().offset(-1)).live())
        await expectRefusal(of: novelists.live(aggregating: \.novels, .count, matching: Novel.all().offset(-1)))
    }

    @Test("A row that can't be read fails no query that doesn't show it", .timeLimit(.minutes(10)))
    func unreadableRowBesideWindow() async throws {
        let storage = try await open((1...4).map { Self.card($0) })
        try await storage.write { try $0.execute("UPDATE cards SET rank = 'word' WHERE id = 3") }
        let query = storage.query(Card.self).orderBy(\.id)
        var lists = query.limit(2).live().snapshots.makeAsyncIterator()
        var rows = query.liveFirst().snapshots.makeAsyncIterator()
        let page = await PaginatedQuerySubscription(query, pageSize: 1, start: .immediate)
        #expect(try await lists.next() == (try await query.limit(2).fetch()))
        #expect(try await rows.next()??.id == 1)
        #expect(await page.currentPage.map(\.id) == [1])
        #expect(await page.totalCount == 4)
        let receipt = try await storage.save(Self.card(1, "done"))
        #expect(try await lists.next()?.map(\.lane) == ["done", "todo"])
        #expect(try await rows.next()??.lane == "done")
        await storage.waitForViews(through: receipt)
        #expect(await page.currentPage.map(\.lane) == ["done"])
        #expect(await page.error == nil)
    }

    @Test("Closing the store ends its sequences")
    func closing() async throws {
        let storage = try await open([Self.card(1)])
        let live = storage.query(Card.self).live()
        var snapshots = live.snapshots.makeAsyncIterator()
        #expect(try await snapshots.next()?.count == 1)
        try await storage.close()
        #expect(try await snapshots.next() == nil)
        // Also of one that begins only now: that the store ends is no failure.
        let (errors, reports) = AsyncStream<StorageError>.makeStream()
        var late = live.snapshots { _ = reports.yield($0) }.makeAsyncIterator()
        #expect(try await late.next() == nil)
        reports.finish()
        for await error in errors { Issue.record(error) }
    }

    // MARK: Differences that travel

    @Test("Differences of lists are decoded as they were encoded")
    func codableLists() throws {
        let difference = ListDifference<String>(
            position: 7, whole: ["a"],
            changes: [.insert("b", at: 1), .update("c", at: 0), .move("d", from: 1, to: 0), .remove(at: 1)])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(difference)
        #expect(
            String(decoding: data, as: UTF8.self) == """
                {"changes":[{"at":1,"insert":"b"},{"at":0,"update":"c"},{"from":1,"move":"d","to":0},{"remove":1}],\
                "position":7,"whole":["a"]}
                """)
        let decoded = try JSONDecoder().decode(ListDifference<String>.self, from: data)
        #expect(decoded.position == 7)
        #expect(decoded.whole == ["a"])
        #expect(decoded.changes == difference.changes)
        #expect(decoded.fits([]))
        var items = ["z"]
        decoded.apply(to: &items)
        #expect(items == ["d"])
    }

    @Test("Differences of groups are decoded as they were encoded")
    func codableGroups() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(WireCardRecord.self) }.facade
        try await storage.save((0..<5).map { WireCard(id: $0, lane: $0 < 2 ? "done" : "todo", rank: $0) })
        let live = storage.query(WireCard.self).orderBy(\.rank).liveGroups(by: \.lane)
        var (here, there) = ([GroupSection<String, WireCard>](), [GroupSection<String, WireCard>]())
        var differences = live.differences.makeAsyncIterator()
        let changes = [
            WireCard(id: 2, lane: "done", rank: 2), WireCard(id: 3, lane: "new", rank: 3),
            WireCard(id: 4, lane: "new", rank: -1), WireCard(id: 0, lane: "todo", rank: 0),
        ]
        for index in 0...changes.count {
            let difference = try #require(await differences.next())
            difference.apply(to: &here)
            let decoded = try JSONDecoder().decode(
                GroupDifference<String, WireCard>.self, from: JSONEncoder().encode(difference))
            #expect(decoded.fits(there))
            decoded.apply(to: &there)
            #expect(decoded.totalCount == 5)
            #expect(here == there)
            if index < changes.count { try await storage.save(changes[index]) }
        }
    }

    @Test(
        "A step with another shape is refused",
        arguments: [#"{"at":1}"#, #"{"insert":"a"}"#, #"{"move":"a","to":1}"#, #"{}"#])
    func malformedSteps(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ListChange<String>.self, from: Data(json.utf8)) }
    }

    @Test(
        "A step that doesn't fit is noticed",
        arguments: [
            ListChange.insert("a", at: 3), .insert("a", at: -1), .remove(at: 2), .update("a", at: 2),
            .move("a", from: 2, to: 0),
            .move("a", from: 0, to: 2),
        ])
    func misfits(change: ListChange<String>) {
        #expect(!ListDifference(position: 1, whole: nil, changes: [change]).fits(["x", "y"]))
    }

    // MARK: Random

    /// What a reader has put together of differences is what the store held at the very position that each of them names.
    @Test("Each difference leads to the state at its position", arguments: testSeeds(2))
    func differencesEqualThePast(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(CardRecord.self) }
        let storage = store.storage
        try await storage.save((0..<20).map { Self.card($0, ["a", "b", "c"][$0 % 3]) })
        let writing = Task.detached {
            var random = SplitMix64(seed: seed)
            for _ in 0..<60 {
                let id = Int.random(in: 0..<30, using: &random)
                let card = Self.card(
                    id, ["a", "b", "c"].randomElement(using: &random)!,
                    rank: Double(Int.random(in: 0..<6, using: &random)))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try await storage.delete(Card.self, id: id)
                } else {
                    try await storage.save(card)
                }
            }
            try await storage.save(Self.card(1_000, "end"))
        }
        try await withThrowingTaskGroup(of: Void.self) { readers in
            for number in 0..<6 {
                let limit = number % 2 == 0 ? 4 : 100
                let lane = ["a", "b", "c"][number / 2]
                @Sendable func query<Source: SubscribableQuery<Card>>(_ query: Source) -> Source {
                    query.where { $0.lane == lane || $0.lane == "end" }.orderBy(\.rank, .descending).limit(limit)
                }
                readers.addTask {
                    var cards: [Card] = []
                    for try await difference in query(storage.query(Card.self)).live().differences {
                        difference.apply(to: &cards)
                        let past = try await storage.asOf(.position(difference.position))
                        let wanted = try await past.query(Card.self).where { $0.lane == lane || $0.lane == "end" }
                            .orderBy(\.rank, .descending).limit(limit).fetch()
                        #expect(cards == wanted, "seed \(seed), at \(difference.position)")
                        if cards.contains(where: { $0.lane == "end" }) { break }
                    }
                }
            }
            try await readers.waitForAll()
        }
        try await writing.value
    }

    /// A reader that goes after each difference and comes back has what one has that never went.
    @Test("A reader that was away is given what it missed", arguments: testSeeds(2))
    func differencesSinceAPosition(seed: UInt64) async throws {
        let store = try TemporaryStore { $0.autoSchema(CardRecord.self) }
        let storage = store.storage
        var random = SplitMix64(seed: seed)
        func change() async throws {
            let id = Int.random(in: 0..<30, using: &random)
            let lane = ["a", "b", "c"].randomElement(using: &random)!
            let card = Self.card(id, lane, rank: Double(Int.random(in: 0..<6, using: &random)))
            try await storage.write { tx in
                try tx.delete(Card.self, id: (id + 7) % 30)
                try tx.save(card)
            }
        }
        for _ in 0..<20 { try await change() }
        let query = storage.query(Card.self).where { $0.lane != "c" }.orderBy(\.rank, .descending)
        let (list, window) = (query.live(), query.limit(5).live())
        let groups = query.liveGroups(by: \.lane)
        var (cards, shown, sections) = ([Card](), [Card](), [GroupSection<String, Card>]())
        var (cardsAt, shownAt, sectionsAt) = (Int64(-1), Int64(-1), Int64(-1))
        var steps = 0
        for round in 0..<25 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) { try await change() }
            // So that there is something new for each of them.
            try await storage.save(Card(id: 500 + round, title: "new", lane: "a", rank: 100 + Double(round)))
            var lists = list.differences(since: cardsAt).makeAsyncIterator()
            let difference = try #require(await lists.next())
            #expect(difference.fits(cards))
            difference.apply(to: &cards)
            cardsAt = difference.position
            steps += difference.whole == nil ? 1 : 0
            var windows = window.differences(since: shownAt).makeAsyncIterator()
            let shift = try #require(await windows.next())
            #expect(shift.fits(shown))
            shift.apply(to: &shown)
            shownAt = shift.position
            var grouped = groups.differences(since: sectionsAt).makeAsyncIterator()
            let regrouping = try #require(await grouped.next())
            #expect(regrouping.fits(sections))
            regrouping.apply(to: &sections)
            sectionsAt = regrouping.position
            let wanted = try await query.fetch()
            #expect(cards == wanted, "seed \(seed), round \(round)")
            #expect(shown == Array(wanted.prefix(5)), "seed \(seed), round \(round)")
            let byLane = ["a", "b"].flatMap { lane in wanted.filter { $0.lane == lane } }
            #expect(sections.flatMap(\.items) == byLane)
        }
        // All but the first.
        #expect(steps == 24)
    }

    @Test("A token of another history is answered with the whole")
    func tokensOfHistories() async throws {
        let (storage, other) = (try await open([Self.card(1)]), try await open([Self.card(2)]))
        let list = storage.query(Card.self).live()
        var first = list.differences.makeAsyncIterator()
        let position = try #require(await first.next()).position
        let token = try await storage.changeToken(at: position)
        try await storage.save(Self.card(9))
        var resumed = list.differences(since: token).makeAsyncIterator()
        let difference = try #require(await resumed.next())
        #expect(difference.whole == nil)
        #expect(difference.changes.count == 1)
        let foreign = try await other.changeToken(at: position)
        var restarted = list.differences(since: foreign).makeAsyncIterator()
        #expect(try await restarted.next()?.whole?.count == 2)
        await #expect(throws: StorageError.self) { try await storage.changeToken(at: 1_000_000) }
    }

    @Test("What can't be resumed is sent as a whole")
    func unresumable() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let list = storage.query(Card.self).live()
        for position in [Int64(-1), 1_000] as [Int64] {
            var differences = list.differences(since: position).makeAsyncIterator()
            #expect(try await differences.next()?.whole?.count == 5)
        }
        var first = list.differences.makeAsyncIterator()
        let position = try #require(await first.next()).position
        // Nothing is new; then a change is, and after that one of the columns.
        var same = list.differences(since: position).makeAsyncIterator()
        let next = Task { [list] in
            var since = list.differences(since: position).makeAsyncIterator()
            return try await since.next()
        }
        while await storage.subscriptions.nodeCount < 2 { await Task.yield() }
        try await storage.save(Self.card(9))
        #expect(try await next.value?.changes.count == 1)
        #expect(try await same.next()?.changes.count == 1)
        let before = storage.head
        try await storage.write { try $0.execute("ALTER TABLE cards ADD COLUMN extra TEXT NOT NULL DEFAULT 'new'") }
        for position in [position, before] {
            var changed = list.differences(since: position).makeAsyncIterator()
            #expect(try await changed.next()?.whole?.count == 6)
        }
    }

    @Test("Behind a conversion the whole is sent", .timeLimit(.minutes(10)))
    func resumingBehindConversion() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let (storage, before) = try await Dials.converted(in: folder)
        try await storage.save(Dials.Later.Dial(id: 2, level: 8))
        let list = storage.query(Dials.Later.Dial.self).orderBy(\.id).live()
        var differences = list.differences(since: before) { Issue.record($0) }.makeAsyncIterator()
        let difference = try #require(await differences.next())
        #expect(difference.whole == [Dials.Later.Dial(id: 1, level: 4), Dials.Later.Dial(id: 2, level: 8)])
        try await storage.close()
    }

    @Test("If the past can't be read, the whole is sent", .timeLimit(.minutes(10)))
    func unreadablePast() async throws {
        let storage = try await open((0..<3).map { Self.card($0) })
        func expectWhole(_ ids: [Int], of query: Query<Card>, since position: Int64) async throws {
            var differences = query.orderBy(\.id).live().differences(since: position) { Issue.record($0) }
                .makeAsyncIterator()
            let difference = try #require(await differences.next())
            #expect(difference.whole?.map(\.id) == ids)
        }
        // A row that was no card then.
        try await storage.write { try $0.execute("UPDATE cards SET rank = 'none' WHERE id = 2") }
        let unreadable = storage.head
        try await storage.write { try $0.execute("UPDATE cards SET rank = 2 WHERE id = 2") }
        try await expectWhole([0, 1, 2], of: storage.query(Card.self), since: unreadable)
        // A condition on a view: the tables of the past have none.
        try await storage.write { try $0.execute("CREATE VIEW open_cards AS SELECT id FROM cards WHERE lane = 'todo'") }
        let position = storage.head
        try await storage.save([Self.card(8, "done"), Self.card(9)])
        let query = storage.query(Card.self).where { _ in .sql("id IN (SELECT id FROM open_cards)") }
        try await expectWhole([0, 1, 2, 9], of: query, since: position)
    }

    /// A group that is kept, or that came before another one, is where it is because of what this reader has seen.
    @Test("Groups that their rows don't determine are sent as a whole", .timeLimit(.minutes(10)))
    func resumingGroups() async throws {
        let unordered = try await resumed(Lanes(sortGroupsBy: .custom { $0.count < $1.count }))
        #expect(unordered.whole != nil)
        let kept = try await resumed(Lanes(includeEmptyGroups: true))
        #expect(kept.whole != nil)
        let determined = try await resumed(Lanes())
        #expect(determined.whole == nil)
    }

    private typealias Lanes = GroupedQuerySubscription<Card, String>.Configuration

    /// What a reader of lanes receives that was away while a card was added.
    private func resumed(_ configuration: Lanes) async throws -> GroupDifference<String, Card> {
        let storage = try await open([Self.card(1, "b"), Self.card(2, "c")])
        let live = storage.query(Card.self).orderBy(\.id).liveGroups(by: \.lane, configuration: configuration)
        var sections: [GroupSection<String, Card>] = []
        var differences = live.differences.makeAsyncIterator()
        try await differences.next()?.apply(to: &sections)
        try await storage.save(Self.card(0, "a"))
        try await differences.next()?.apply(to: &sections)
        try await storage.delete(Card.self, id: 1)
        let last = try #require(await differences.next())
        last.apply(to: &sections)
        try await storage.save(Self.card(3, "c"))
        var resuming = live.differences(since: last.position).makeAsyncIterator()
        let difference = try #require(await resuming.next())
        try #require(difference.fits(sections))
        difference.apply(to: &sections)
        #expect(sections.flatMap(\.items).count == 3)
        for section in sections { #expect(section.items.allSatisfy { $0.lane == section.key }) }
        return difference
    }

    @Test("The results of a full-text search are sent as a whole", .timeLimit(.minutes(10)))
    func resumingSearch() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let search = storage.query(Card.self).liveSearch("card", configuration: .fullText())
        var differences = search.differences.makeAsyncIterator()
        let position = try #require(await differences.next()).position
        try await storage.save(Self.card(3, "done"))
        var resuming = search.differences(since: position).makeAsyncIterator()
        let difference = try #require(await resuming.next())
        let whole = try #require(difference.whole)
        let found = try await storage.search(Card.self, query: "card").map(\.entity)
        #expect(Set(whole.map(\.entity)) == Set(found))
        #expect(whole.count == 5)
    }

    // MARK: From a known value

    /// Returns the first element of a second reader that begins before a change.
    private func firstElement<Element>(
        of sequence: LiveSequence<Element>, in storage: Storage, changing: () async throws -> Void
    ) async throws -> Element? {
        let next = Task {
            var elements = sequence.makeAsyncIterator()
            return try await elements.next()
        }
        while await storage.subscriptions.nodeCount < 2 { await Task.yield() }
        try await changing()
        return try await next.value
    }

    @Test("A reader that has its list receives the steps from it", .timeLimit(.minutes(10)))
    func fromKnownList() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let list = storage.query(Card.self).orderBy(\.rank).live()
        var cards: [Card] = []
        var first = list.differences.makeAsyncIterator()
        try await first.next()?.apply(to: &cards)
        // Nothing has changed: what comes first is the next change.
        let unchanged = list.differences(from: cards)
        let added = try await firstElement(of: unchanged, in: storage) { try await storage.save(Self.card(9)) }
        #expect(added?.whole == nil)
        #expect(added?.changes.count == 1)
        #expect(try await first.next()?.changes.count == 1)
        try await storage.delete(Card.self, id: 1)
        try await storage.save(Self.card(0, rank: 7))
        var resumed = list.differences(from: cards).makeAsyncIterator()
        let difference = try #require(await resumed.next())
        #expect(difference.position == storage.head)
        #expect(difference.whole == nil)
        #expect(difference.changes.count == 4)
        difference.apply(to: &cards)
        #expect(try await storage.query(Card.self).orderBy(\.rank).fetch() == cards)
        try await storage.save(Self.card(2, rank: 8))
        try await resumed.next()?.apply(to: &cards)
        #expect(cards.map(\.id) == [3, 4, 0, 2, 9])
    }

    /// Swift's texts are equal in every Unicode form, SQLite's only if their bytes are.
    @Test("A text in another Unicode form differs from what a reader has", .timeLimit(.minutes(10)))
    func fromKnownUnicodeForm() async throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        let storage = try await open([Card(id: 1, title: composed, lane: "todo")])
        let query = storage.query(Card.self).orderBy(\.id)
        let groups = query.liveGroups(by: \.lane)
        let known = try #require(try await groups.snapshots.first { _ in true })
        var cards = known.flatMap(\.items)
        try await storage.save(Card(id: 1, title: decomposed, lane: "todo"))
        var lists = query.live().differences(from: cards).makeAsyncIterator()
        var rows = query.liveFirst().differences(from: cards.first).makeAsyncIterator()
        var sections = groups.differences(from: known).makeAsyncIterator()
        let difference = try #require(await lists.next())
        #expect(difference.whole == nil)
        #expect(difference.changes.count == 1)
        difference.apply(to: &cards)
        #expect(cards.map { Array($0.title.utf8) } == [Array(decomposed.utf8)])
        #expect(try await rows.next()?.new?.title.utf8.count == decomposed.utf8.count)
        #expect(try await sections.next()?.whole?.first?.items.first?.title.utf8.count == decomposed.utf8.count)

        // The id of another row, which Swift considers the same.
        var novelists = [Novelist(id: composed, country: "FR")]
        let replaced = ListDifference(
            from: novelists, to: [Novelist(id: decomposed, country: "FR")], by: \.id, at: storage.head)
        #expect(replaced.changes.count == 1)
        replaced.apply(to: &novelists)
        #expect(novelists.map { Array($0.id.utf8) } == [Array(decomposed.utf8)])
    }

    @Test("A text of a search's result or beside an aggregate differs in another Unicode form")
    func unicodeFormInsideItems() {
        let titles = ["\u{e9}", "e\u{301}"]
        func changes<Item: Sendable & Equatable & Identifiable>(_ items: [Item]) -> Int {
            ListDifference(from: [items[0]], to: [items[1]], by: \.id, at: 1).changes.count
        }
        let cards = titles.map { Card(id: 1, title: $0, lane: "todo") }
        #expect(changes(cards.map { SearchResult(entity: $0, rank: 0, snippet: nil) }) == 1)
        #expect(changes(titles.map { SearchResult(entity: cards[0], rank: 0, snippet: $0) }) == 1)
        #expect(changes(cards.map { AggregatedEntity($0, 7) }) == 1)
        // Such as the greatest of the related texts.
        #expect(changes(titles.map { AggregatedEntity(cards[0], $0) }) == 1)
        #expect(changes([cards[0], cards[0]].map { AggregatedEntity($0, 7) }) == 0)
    }

    @Test("A reader that has the results of a search receives the steps from them", .timeLimit(.minutes(10)))
    func fromKnownSearch() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let search = storage.query(Card.self).liveSearch("card", configuration: .fullText())
        var found: [SearchResult<Card>] = []
        var first = search.differences.makeAsyncIterator()
        try await first.next()?.apply(to: &found)
        try await storage.delete(Card.self, id: 3)
        var resumed = search.differences(from: found).makeAsyncIterator()
        let difference = try #require(await resumed.next())
        #expect(difference.whole == nil)
        #expect(difference.fits(found))
        difference.apply(to: &found)
        #expect(found.map(\.id) == (try await search.snapshots.first { _ in true })?.map(\.id))
        #expect(Set(found.map(\.id)) == [0, 1, 2, 4])
    }

    @Test("A reader that has its groups receives them only if they have changed", .timeLimit(.minutes(10)))
    func fromKnownGroups() async throws {
        let storage = try await open([Self.card(1, "b"), Self.card(2, "c")])
        let groups = storage.query(Card.self).orderBy(\.id).liveGroups(by: \.lane)
        var first = groups.snapshots.makeAsyncIterator()
        let known = try #require(await first.next())
        let unchanged = groups.differences(from: known)
        let added = try await firstElement(of: unchanged, in: storage) { try await storage.save(Self.card(3, "c")) }
        #expect(added?.whole == nil)
        #expect(added?.changes.isEmpty == false)
        #expect(try await first.next()?.map(\.count) == [1, 2])
        var resumed = groups.differences(from: known).makeAsyncIterator()
        #expect(try await resumed.next()?.whole?.map(\.count) == [1, 2])
    }

    @Test("A reader that has its value receives it only if it has changed", .timeLimit(.minutes(10)))
    func fromKnownValue() async throws {
        let storage = try await open((0..<5).map { Self.card($0) })
        let count = storage.query(Card.self).liveCount()
        var first = count.snapshots.makeAsyncIterator()
        #expect(try await first.next() == 5)
        let unchanged = count.differences(from: 5)
        let added = try await firstElement(of: unchanged, in: storage) { try await storage.save(Self.card(9)) }
        #expect(added?.old == 5)
        #expect(added?.new == 6)
        #expect(try await first.next() == 6)
        var resumed = count.differences(from: 2).makeAsyncIterator()
        let difference = try #require(await resumed.next())
        #expect(difference.old == 2)
        #expect(difference.new == 6)
        #expect(difference.position == storage.head)
    }
}
