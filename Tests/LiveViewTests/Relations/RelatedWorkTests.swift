import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

/// What a commit costs live queries across tables: as much as it changes, however many rows there are.
@MainActor @Suite(.timeLimit(.minutes(10))) struct RelatedWorkTests {
    private struct Work: Equatable {
        var statements: Int
        var rowReads: Int
        var reloads: Int
    }

    /// A store with so many novels, three a novelist, each of one chapter.
    private func library(novels count: Int) async throws -> Storage {
        let storage = try await Library.open()
        try await storage.write { tx in
            for number in 0..<count {
                if number % 3 == 0 {
                    try tx.save(Novelist(id: Self.id(number / 3), country: number % 2 == 0 ? "UA" : "PL"))
                }
                try tx.save(Novel(id: number, year: 1900 + number % 100, novelistId: Self.id(number / 3)))
                try tx.save(Chapter(id: number, pages: number % 100, novelId: number))
            }
        }
        return storage
    }

    /// What a commit costs the live queries of a store.
    private func work(
        _ storage: Storage, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws -> Work {
        let before = await storage.subscriptions.counters
        await storage.waitForViews(through: try await storage.write(body).receipt)
        let after = await storage.subscriptions.counters
        return Work(
            statements: after.statements - before.statements, rowReads: after.rowReads - before.rowReads,
            reloads: after.reloads - before.reloads)
    }

    /// Follows lists of a store, and says what commits cost them.
    private func work(novels count: Int) async throws -> [Work] {
        let storage = try await library(novels: count)
        let novelists = storage.query(Novelist.self).orderBy(\.id).limit(20)
        let lists = [
            QuerySubscription(
                novelists.include(\.novels) { $0.orderBy(\.year, .descending).limit(2) }, start: .immediate),
            QuerySubscription(
                novelists.has(\.novels) { $0.year >= 1900 }.include(\.novels), start: .immediate),
        ]
        let parents = QuerySubscription(
            storage.query(Novel.self).has(\.novelist) { $0.country == "UA" }.orderBy(\.id).limit(20)
                .include(\.novelist), start: .immediate)
        var works: [Work] = []
        func measure(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
            works.append(try await work(storage, body))
        }
        // A child that is shown, one that isn't, one that moves, the last of a parent, and a parent.
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = 4") }
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = \(count - 2)") }
        try await measure { try $0.execute("UPDATE novels SET novelistId = '\(Self.id(2))' WHERE id = 3") }
        try await measure { try $0.execute("DELETE FROM novels WHERE id IN (9, 10, 11)") }
        try await measure { try $0.save(Novelist(id: Self.id(1), country: "IE")) }
        #expect(lists[0].items.count == 20)
        #expect(lists[1].items.contains { $0.id == Self.id(3) } == false)
        #expect(parents.items.allSatisfy { $0.novelist?.country == "UA" })
        return works
    }

    /// The same of conditions on related rows inside of others, of inclusions and of aggregates.
    private func nestedWork(novels count: Int) async throws -> [Work] {
        let storage = try await library(novels: count)
        let (novelists, novels) = (storage.query(Novelist.self).orderBy(\.id), storage.query(Novel.self))
        let long = Novel.all().has(\.chapters) { $0.pages < 90 }
        let inside = QuerySubscription(
            novelists.limit(20).include(\.novels) { $0.has(\.chapters) { $0.pages < 90 }.orderBy(\.year).limit(2) },
            start: .immediate)
        let deep = QuerySubscription(novelists.has(\.novels, matching: long).limit(20), start: .immediate)
        let none = QuerySubscription(novelists.hasNo(\.novels, matching: long).limit(20), start: .immediate)
        let total = CountSubscription(novels.has(\.novelist) { $0.country == "UA" }, start: .immediate)
        let groups = GroupedAggregationSubscription(
            novels.hasNo(\.chapters), .count, groupedBy: \.year, start: .immediate)
        let live = novelists.limit(20).live(aggregating: \.novels, .count, .max(\.year), matching: long)
        let counts = Latest<[Int]>()
        counts.follow(live.snapshots) { $0.map(\.value.0) }
        while counts.value == nil { await Task.yield() }
        let before = total.count
        var works: [Work] = []
        // A chapter that counts goes, one far away goes, one moves, a novelist changes, a novel moves, all of one's chapters go.
        works.append(try await work(storage) { try $0.execute("DELETE FROM chapters WHERE id = 4") })
        works.append(try await work(storage) { try $0.execute("DELETE FROM chapters WHERE id = \(count - 20)") })
        works.append(try await work(storage) { try $0.execute("UPDATE chapters SET novelId = 4 WHERE id = 12") })
        works.append(try await work(storage) { try $0.save(Novelist(id: Self.id(1), country: "UA")) })
        works.append(
            try await work(storage) { try $0.execute("UPDATE novels SET novelistId = '\(Self.id(5))' WHERE id = 6") })
        works.append(try await work(storage) { try $0.execute("DELETE FROM chapters WHERE id IN (9, 10, 11)") })
        #expect(inside.items[1].novels.map(\.id) == [3, 4])
        #expect(deep.items.contains { $0.id == Self.id(3) } == false)
        #expect(none.items.first?.id == Self.id(3))
        // A novel more of a novelist who wasn't counted before, as one went to another.
        #expect(total.count == before + 2)
        #expect(groups.groups.map(\.value).reduce(0, +) == 5)
        while counts.value?[3] != 0 { await Task.yield() }
        #expect(counts.value?.prefix(6) == [3, 3, 2, 0, 2, 4])
        return works
    }

    /// The last value of a live query.
    @MainActor private final class Latest<Value: Sendable> {
        private(set) var value: Value?
        private var reader: Task<Void, any Error>?

        func follow<Source: Sendable>(_ source: LiveSequence<Source>, _ read: @escaping @MainActor (Source) -> Value) {
            reader = Task { [weak self] in
                for try await found in source { self?.value = read(found) }
            }
        }

        deinit { reader?.cancel() }
    }

    @Test("Conditions inside of others, of inclusions and of aggregates cost the same among few rows and among many")
    func nestedWorkIsFlat() async throws {
        let few = try await nestedWork(novels: 300)
        let many = try await nestedWork(novels: Int(6_000 * max(1, testScale)))
        #expect(few == many)
        #expect(few.allSatisfy { $0.reloads == 0 })
        #expect(few.allSatisfy { $0.statements <= 40 }, "\(few)")
    }

    @Test("A related row that all rows look at costs what is shown of them")
    func sharedParentWorkIsFlat() async throws {
        func flip(novels count: Int) async throws -> Work {
            let storage = try await library(novels: count)
            try await storage.write { tx in
                try tx.save(Publisher(id: 1, city: "Lviv"))
                try tx.execute("UPDATE novels SET publisherId = 1")
            }
            let novelists = storage.query(Novelist.self).orderBy(\.id).limit(20)
            let list = QuerySubscription(
                novelists.include(\.novels) { $0.has(\.publisher) { $0.city == "Lviv" } }, start: .immediate)
            #expect(list.items.allSatisfy { $0.novels.count == 3 })
            let work = try await work(storage) { try $0.save(Publisher(id: 1, city: "Rome")) }
            #expect(list.items.count == 20)
            #expect(list.items.allSatisfy { $0.novels.isEmpty })
            return work
        }
        let few = try await flip(novels: 300)
        #expect(few.reloads == 0)
        #expect(try await flip(novels: Int(6_000 * max(1, testScale))) == few)
    }

    /// What commits cost a list of so many novelists of a country with their novels.
    private func longListWork(owners count: Int) async throws -> [LongListWork] {
        let storage = try await Library.open()
        try await storage.write { tx in
            try tx.save(Publisher(id: 1, city: "Lviv"))
            for number in 0..<count {
                try tx.save(Novelist(id: Self.id(number), country: "UA"))
                try tx.save(Novel(id: number, year: 2000, novelistId: Self.id(number), publisherId: 1))
            }
            try tx.save(Novelist(id: "other", country: "PL"))
            try tx.save(Novel(id: -1, year: 2000, novelistId: "other", publisherId: 1))
        }
        let novelists = storage.query(Novelist.self).where { $0.country == "UA" }.orderBy(\.id)
        let lists = [
            QuerySubscription(novelists.include(\.novels), start: .immediate),
            QuerySubscription(
                novelists.include(\.novels) { $0.has(\.publisher) { $0.city == "Lviv" } }, start: .immediate),
        ]
        var works: [LongListWork] = []
        func measure(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
            let before = await storage.subscriptions.counters
            await storage.waitForViews(through: try await storage.write(body).receipt)
            let after = await storage.subscriptions.counters
            works.append(LongListWork(from: before, to: after))
        }
        // A novel of another novelist, one that is shown, a novelist who comes, one who goes, and the first one again.
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = -1") }
        try await measure { try $0.execute("UPDATE novels SET year = 1999 WHERE id = 7") }
        try await measure { try $0.save(Novelist(id: "other", country: "UA")) }
        try await measure { try $0.save(Novelist(id: Self.id(3), country: "PL")) }
        try await measure { try $0.execute("UPDATE novels SET year = 1998 WHERE id = 3") }
        try await measure { try $0.execute("UPDATE novels SET year = 1998 WHERE id = -1") }
        for list in lists {
            #expect(list.items.count == count)
            #expect(list.items[6].novels.map(\.year) == [1999])
            #expect(list.items.last?.novels.map(\.year) == [1998])
        }
        return works
    }

    /// What a commit costs lists: whether they are woken, and what for.
    private struct LongListWork: Equatable {
        let steps: Int
        let wakeups: Int
        let evaluations: Int
        let statements: Int
        let reloads: Int

        init(from before: EngineCounters, to after: EngineCounters) {
            steps = after.steps - before.steps
            wakeups = after.wakeups - before.wakeups
            evaluations = after.router.evaluations - before.router.evaluations
            statements = after.statements - before.statements
            reloads = after.reloads - before.reloads
        }
    }

    @Test("A related row of an owner that isn't shown wakes no list, however long it is")
    func longListsAreFoundByTheirOwners() async throws {
        let few = try await longListWork(owners: 100)
        #expect(few[0].steps == 0)
        #expect(few[4].steps == 0)
        for count in testScale > 1 ? [2_000, 20_000] : [2_000] {
            #expect(try await longListWork(owners: count) == few)
        }
    }

    private nonisolated static func id(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 7 - digits.count) + digits
    }

    @Test("A commit costs the same among few rows and among many")
    func workIsFlat() async throws {
        let few = try await work(novels: 300)
        let many = try await work(novels: Int(6_000 * max(1, testScale)))
        #expect(few == many)
        #expect(few.allSatisfy { $0.reloads == 0 })
        // Neither reads anything but what the window needs.
        #expect(few.allSatisfy { $0.statements <= 24 }, "\(few)")
        #expect(few[1].statements <= 2, "\(few)")
    }
}
