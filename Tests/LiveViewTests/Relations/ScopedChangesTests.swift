import StorageKit
import StorageTesting
import TestSupport
import Testing

/// The changes that a scope lets through.
@Suite(.timeLimit(.minutes(10))) struct ScopedChangesTests {
    private func novels(_ changes: [CommitChanges]) -> [String] {
        changes.flatMap(\.events).map { event in
            let fields = (event.new ?? event.old ?? []).filter { $0.column != "updatedAt" }
                .map { "\($0.column) \($0.value)" }.sorted().joined(separator: ", ")
            return "\(event.operation) \(event.key[0].value): \(fields)"
        }
    }

    private func take(_ count: Int, _ changes: ScopedChanges) async throws -> [CommitChanges] {
        var taken: [CommitChanges] = []
        for try await change in changes {
            taken.append(change)
            if taken.count == count { break }
        }
        return taken
    }

    @Test("A row that comes into the scope is inserted, and one that leaves it deleted")
    func enteringAndLeaving() async throws {
        let storage = try await Library.open()
        let mine = storage.scoped { $0.allow(Novel.self) { $0.publisherId == 1 } }
        try await storage.save([Novel(id: 1, year: 1990, publisherId: 1), Novel(id: 2, year: 1991, publisherId: 2)])
        try await storage.save(Publisher(id: 1, city: "Kyiv"))
        try await storage.query(Novel.self).updateAll { $0.year.set(to: 2000) }
        try await storage.query(Novel.self).where { $0.id == 2 }.updateAll { $0.publisherId.set(to: 1) }
        try await storage.query(Novel.self).where { $0.id == 1 }.updateAll { $0.publisherId.set(to: 2) }
        try await storage.delete(Novel.self, id: 1)
        try await storage.delete(Novel.self, id: 2)
        let taken = try await take(5, mine.changes(since: .position(0)))
        #expect(
            novels(taken) == [
                "insert 1: novelistId NULL, publisherId 1, year 1990", "update 1: year 2000",
                "insert 2: novelistId NULL, publisherId 1, year 2000",
                "delete 1: novelistId NULL, publisherId 1, year 2000",
                "delete 2: novelistId NULL, publisherId 1, year 2000",
            ])
        #expect(taken.map(\.isWhole) == [true, true, true, true, true])
        let updates = try await take(1, mine.changes(since: .position(0), matching: LogQuery(operations: [.update])))
        #expect(novels(updates) == ["update 1: year 2000"])
        // From the middle, where earlier versions are looked up.
        let rest = try await take(2, mine.changes(since: taken[2].token))
        #expect(novels(rest) == Array(novels(taken).suffix(2)))
    }

    @Test("A commit of which a part is visible comes whole, however large it is")
    func largeCommits() async throws {
        let storage = try await Library.open()
        let mine = storage.scoped { $0.allow(Novel.self) { $0.year == 1 } }
        let visible = [[], [10], [2_000], [10, 2_000, 3_500]] as [Set<Int>]
        for (number, years) in visible.enumerated() {
            try await storage.save(
                (0..<4_000).map { Novel(id: number * 10_000 + $0, year: years.contains($0) ? 1 : 0) })
        }
        let taken = try await take(5, mine.changes(since: .position(0)))
        #expect(taken.map { $0.events.count } == [1, 1, 1, 1, 1])
        #expect(taken.map(\.beginsCommit) == [true, true, true, false, false])
        #expect(taken.map(\.endsCommit) == [true, true, false, false, true])
    }

    @Test("A reader that is cancelled ends without an error, and never gets a part of a commit as its end")
    func cancellation() async throws {
        let storage = try await Library.open()
        let mine = storage.scoped { $0.allow(Novel.self) { $0.year == 1 } }
        try await storage.save((0..<4_000).map { Novel(id: $0, year: 1) })
        for round in 0..<20 {
            let (parts, part) = AsyncStream<Void>.makeStream()
            let reading = Task {
                defer { part.finish() }
                var taken: [CommitChanges] = []
                for try await change in mine.changes(since: .position(0)) {
                    taken.append(change)
                    part.yield()
                    if change.endsCommit { break }
                }
                return taken
            }
            var first = parts.makeAsyncIterator()
            _ = await first.next()
            // At another moment of what follows each time.
            for _ in 0..<round { await Task.yield() }
            reading.cancel()
            let taken = try await reading.value
            let events = taken.map(\.events.count).reduce(0, +)
            #expect(taken.last?.endsCommit == true ? events == 4_000 : events < 4_000, "\(round)")
        }
    }

    @Test("A scope that the log alone can't answer says so")
    func refusals() async throws {
        let storage = try await Library.open()
        try await storage.save(Novel(id: 1, year: 1))
        let mine = storage.scoped { $0.allow(Novel.self) { _ in .sql("year = 1") } }
        await #expect(throws: StorageError.self) { try await take(1, mine.changes(since: .position(0))) }
    }

    @Test("Applied to the rows of a scope, its changes lead to the rows of each commit", arguments: testSeeds(15))
    func oracle(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try await Library.open()
        let size = 3 + generator.below(8)
        var positions: [Int64] = []
        for _ in 0..<40 {
            let seed = generator.next()
            let count = 1 + generator.below(6)
            let receipt = try await storage.write { tx in
                var generator = SplitMix64(seed: seed)
                for _ in 0..<count { try Library.change(tx, &generator, size: size) }
            }
            positions.append(receipt.position)
        }
        let year = 1995 + generator.below(20)
        let publisher = generator.below(4)
        let isSimple = generator.chance(50)
        let mine = storage.scoped {
            $0.allow(Novel.self) { isSimple ? $0.publisherId == publisher : $0.year > year || $0.publisherId == nil }
        }
        func isVisible(_ novel: Novel) -> Bool {
            isSimple ? novel.publisherId == publisher : novel.year > year || novel.publisherId == nil
        }
        let start = generator.chance(50) ? 0 : generator.pick(positions)
        let last = Novel(id: 1_000_000, year: 3_000, publisherId: isSimple ? publisher : nil)
        let end = try await storage.save(last)
        var shown = Set(try await storage.asOf(.position(start)).all(Novel.self).filter(isVisible).map(\.id))
        for try await change in mine.changes(since: .position(start)) {
            for event in change.events {
                guard case .integer(let id) = event.key[0].value else { continue }
                switch event.operation {
                case .insert: #expect(shown.insert(Int(id)).inserted, "STORAGEKIT_SEED=\(seed)")
                case .update: #expect(shown.contains(Int(id)), "STORAGEKIT_SEED=\(seed)")
                case .delete: #expect(shown.remove(Int(id)) != nil, "STORAGEKIT_SEED=\(seed)")
                }
            }
            let position = try #require(change.events.last).position
            let state = try await storage.asOf(.commit(change.commit.number)).all(Novel.self)
            #expect(shown == Set(state.filter(isVisible).map(\.id)), "STORAGEKIT_SEED=\(seed) @\(position)")
            if change.commit.number == end.commit { break }
        }
    }
}
