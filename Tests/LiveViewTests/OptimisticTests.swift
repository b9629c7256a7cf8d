import EntityTestSupport
import Foundation
import GRDB
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageKit

/// What is shown before it is stored, and what becomes of it.
@Suite(.timeLimit(.minutes(10))) struct OptimisticTests {
    private struct Refused: Error {}

    private func open(_ ids: some Sequence<Int>, limit: Int = 3) async throws -> (
        storage: Storage, query: Query<Card>
    ) {
        let storage = try StorageKit.inMemory { schema in
            schema.autoSchema(CardRecord.self)
            schema.addFullTextSearch(table: "cards", columns: ["title"])
        }.facade
        try await storage.save(ids.map { card($0) })
        return (storage, storage.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank).limit(limit))
    }

    private func card(_ id: Int, _ lane: String = "todo", rank: Double? = nil) -> Card {
        Card(id: id, title: "card \(id)", lane: lane, rank: rank ?? Double(id))
    }

    @Test("A change is shown as pending before the writer has its turn, then as confirmed")
    func confirmed() async throws {
        let folder = try TemporaryFolder()
        let storage = try StorageKit.start(at: folder.url.appendingPathComponent("store.sqlite")) {
            $0.autoSchema(CardRecord.self)
        }.facade
        try await storage.save((1...4).map { card($0) })
        let query = storage.query(Card.self).where { $0.lane == "todo" }.orderBy(\.rank).limit(3)
        var values = query.live().optimistic.makeAsyncIterator()
        var snapshots = query.live().snapshots.makeAsyncIterator()
        #expect(try await values.next()?.value.map(\.id) == [1, 2, 3])
        #expect(try await snapshots.next()?.map(\.id) == [1, 2, 3])

        // The writer is busy, so that nothing is stored meanwhile.
        let gate = DispatchSemaphore(value: 0)
        let isBusy = Gate()
        async let busy = storage.write { _ in
            isBusy.open()
            gate.wait()
        }
        await isBusy.wait()
        let new = card(9, rank: 1.5)
        async let receipt = storage.optimistically([.save(new), .delete(card(3))])
        let pending = try #require(try await values.next())
        #expect(pending.value.map(\.id) == [1, 9, 2])
        #expect(pending.hasPendingChanges)
        #expect(pending.isPending(new))
        #expect(!pending.isPending(card(1)))
        #expect(try await query.fetch().map(\.id) == [1, 2, 3])

        gate.signal()
        _ = try await busy
        let position = try await receipt.position
        let stored = try #require(try await values.next())
        #expect(stored.value.map(\.id) == [1, 9, 2])
        #expect(!stored.hasPendingChanges)
        #expect(!stored.isPending(new))
        #expect(stored.position >= position)
        // Sequences that didn't ask for it have only seen what was stored.
        #expect(try await snapshots.next()?.map(\.id) == [1, 9, 2])
    }

    @Test("A change that fails is withdrawn")
    func withdrawn() async throws {
        let (storage, query) = try await open(1...4)
        var values = query.live().optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value.map(\.id) == [1, 2, 3])
        let gate = Gate()
        let operation = Task {
            try await storage.optimistically([.save(card(9, rank: 0))]) {
                await gate.wait()
                throw Refused()
            }
        }
        #expect(try await values.next()?.value.map(\.id) == [9, 1, 2])
        gate.open()
        await #expect(throws: Refused.self) { try await operation.value }
        let stored = try #require(try await values.next())
        #expect(stored.value.map(\.id) == [1, 2, 3])
        #expect(!stored.hasPendingChanges)
    }

    @Test("Of several changes of a row the last that is under way is shown")
    func severalChanges() async throws {
        let (storage, query) = try await open(1...2)
        var values = query.live().optimistic.makeAsyncIterator()
        _ = try await values.next()
        var gates: [Gate] = []
        var tasks: [Task<Void, Never>] = []
        for title in ["first", "second"] {
            let gate = Gate()
            var changed = card(1)
            changed.title = title
            let change = changed
            tasks.append(
                Task { await storage.optimistically([.save(change)]) { await gate.wait() } })
            gates.append(gate)
            #expect(try await values.next()?.value.first?.title == title)
        }
        gates[1].open()
        await tasks[1].value
        #expect(try await values.next()?.value.first?.title == "first")
        gates[0].open()
        await tasks[0].value
        #expect(try await values.next()?.value.first?.title == "card 1")
    }

    @Test("A commit that isn't optimistic is shown beside what is pending")
    func otherCommits() async throws {
        let (storage, query) = try await open(1...4)
        var values = query.live().optimistic.makeAsyncIterator()
        _ = try await values.next()
        let gate = Gate()
        let operation = Task {
            await storage.optimistically([.save(card(9, rank: 0))]) { await gate.wait() }
        }
        #expect(try await values.next()?.value.map(\.id) == [9, 1, 2])
        try await storage.delete(Card.self, id: 1)
        let both = try #require(try await values.next())
        #expect(both.value.map(\.id) == [9, 2, 3])
        #expect(both.hasPendingChanges)
        gate.open()
        await operation.value
        #expect(try await values.next()?.value.map(\.id) == [2, 3, 4])
    }

    /// Begins changes that are pending until the gate is opened.
    private func begin(
        _ changes: OptimisticChange..., in storage: Storage
    ) -> (gate: Gate, operation: Task<Void, Never>) {
        let gate = Gate()
        return (gate, Task { await storage.optimistically(changes) { await gate.wait() } })
    }

    @Test("A commit that changes only rows that pending changes bring into view is shown")
    func rowsBehindTheWindow() async throws {
        let (storage, query) = try await open(1...5)
        var values = query.live().optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value.map(\.id) == [1, 2, 3])
        let (gate, operation) = begin(.delete(card(1)), in: storage)
        #expect(try await values.next()?.value.map(\.id) == [2, 3, 4])
        // What is confirmed stays as it is.
        try await storage.delete(Card.self, id: 4)
        let both = try #require(try await values.next())
        #expect(both.value.map(\.id) == [2, 3, 5])
        #expect(both.hasPendingChanges)
        gate.open()
        await operation.value
        #expect(try await values.next()?.value.map(\.id) == [1, 2, 3])
    }

    @Test("A commit that changes related rows of a row that only a pending change lets in is shown")
    func relatedRowsOfPendingRows() async throws {
        let storage = try await Library.filled()
        let query = storage.query(Novelist.self).has(\.novels) { $0.year > 2015 }.include(\.novels)
        var values = query.live().optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value.map(\.id) == ["b"])
        let (gate, operation) = begin(.save(Novel(id: 4, year: 2020, novelistId: "a")), in: storage)
        #expect(try await values.next()?.value.first?.novels.map(\.id).sorted() == [1, 2, 4])
        try await storage.save(Novel(id: 5, year: 1980, novelistId: "a"))
        #expect(try await values.next()?.value.first?.novels.map(\.id).sorted() == [1, 2, 4, 5])
        gate.open()
        await operation.value
        #expect(try await values.next()?.value.map(\.id) == ["b"])
    }

    @Test("SQL of the caller's own shows commits that it depends on only by pending rows")
    func ownSQLOfPendingRows() async throws {
        let storage = try await Library.filled()
        let live = storage.liveValue { db in
            let first = try String.fetchOne(db, sql: "SELECT id FROM novelists ORDER BY id LIMIT 1") ?? ""
            // A table that isn't read for what is stored.
            return try first == "0" ? Int.fetchOne(db, sql: "SELECT count(*) FROM novels") ?? 0 : -1
        }
        var values = live.optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value == -1)
        let (gate, operation) = begin(.save(Novelist(id: "0", country: "UA")), in: storage)
        #expect(try await values.next()?.value == 3)
        try await storage.save(Novel(id: 4, year: 2020))
        let both = try #require(try await values.next())
        #expect(both.value == 4)
        #expect(both.hasPendingChanges)
        gate.open()
        await operation.value
        #expect(try await values.next()?.value == -1)
    }

    @Test("A change of another table isn't read for")
    func otherTables() async throws {
        let storage = try await Library.open()
        var values = storage.query(Novelist.self).live().optimistic.makeAsyncIterator()
        _ = try await values.next()
        try await storage.optimistically([.save(Publisher(id: 1, city: "Lviv"))])
        try await storage.optimistically([.save(Novelist(id: "n", country: "UA"))])
        var value = try #require(try await values.next())
        // The pending value may have been left out, as the commit was so quick.
        while value.hasPendingChanges { value = try #require(try await values.next()) }
        #expect(value.value.map(\.id) == ["n"])
    }

    @Test("A search shows pending rows that their stored texts find")
    func search() async throws {
        let (storage, _) = try await open(1...3)
        var values = storage.query(Card.self).liveSearch("card").optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value.count == 3)
        let gate = Gate()
        let operation = Task {
            await storage.optimistically([.delete(card(2)), .save(card(3, "done")), .save(card(4))]) {
                await gate.wait()
            }
        }
        let pending = try #require(try await values.next())
        #expect(pending.value.map(\.entity.id).sorted() == [1, 3])
        #expect(pending.value.first { $0.entity.id == 3 }?.entity.lane == "done")
        gate.open()
        await operation.value
    }

    @Test("SQL of the caller's own reads pending rows")
    func ownSQL() async throws {
        let (storage, _) = try await open(1...3)
        let live = storage.liveValue { db in
            try Int.fetchOne(db, sql: "SELECT sum(c.rank) FROM cards AS c JOIN cards AS d ON d.id = c.id") ?? 0
        }
        var values = live.optimistic.makeAsyncIterator()
        #expect(try await values.next()?.value == 6)
        let gate = Gate()
        let operation = Task {
            await storage.optimistically([.delete(card(2)), .save(card(4))]) { await gate.wait() }
        }
        let pending = try #require(try await values.next())
        #expect(pending.value == 8)
        #expect(pending.hasPendingChanges)
        gate.open()
        await operation.value
        #expect(try await values.next()?.value == 6)
        // Nothing of what was laid over the tables is left on any connection.
        for _ in 0..<8 {
            #expect(
                try await storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_temp_schema") } == 0)
        }
    }

    @Test("A sequence ends with the store, and with its task")
    func ends() async throws {
        let (storage, query) = try await open(1...2)
        let reader = Task {
            var count = 0
            for try await _ in query.live().optimistic { count += 1 }
            return count
        }
        var values = query.live().optimistic.makeAsyncIterator()
        _ = try await values.next()
        reader.cancel()
        _ = try await reader.value
        try await storage.close()
        #expect(try await values.next() == nil)
    }

    @Test("The end of the store isn't reported as an error")
    func closedWhilePending() async throws {
        let (storage, query) = try await open(1...2)
        let errors = Counter()
        var values = query.live().optimistic { _ in errors.add() }.makeAsyncIterator()
        _ = try await values.next()
        try await storage.close()
        // Nothing can be read any more for the change that is begun here.
        await storage.optimistically([.save(card(9))]) { while let _ = try? await values.next() {} }
        #expect(errors.value == 0)
    }

    @Test("A query that can't be answered throws")
    func unanswerable() async throws {
        let (storage, _) = try await open(1...2)
        var values = storage.query(Card.self).orderBy("colour").live().optimistic.makeAsyncIterator()
        await #expect(throws: StorageError.self) { _ = try await values.next() }
    }

    // MARK: Every kind of query

    /// A live query whose values are compared as texts.
    private struct Kind: Sendable {
        let name: String
        let next: @Sendable () async throws -> (text: String, isPending: Bool, position: Int64)?
        /// What another reader begins with.
        let fresh: @Sendable () async throws -> String?

        init<Value: Sendable, Difference: Sendable>(_ name: String, _ live: LiveQuery<Value, Difference>) {
            self.name = name
            fresh = {
                var iterator = live.optimistic.makeAsyncIterator()
                return try await iterator.next().map { "\($0.value)" }
            }
            let iterator = live.optimistic.makeAsyncIterator()
            next = {
                var iterator = iterator
                return try await iterator.next().map { ("\($0.value)", $0.hasPendingChanges, $0.position) }
            }
        }
    }

    private func kinds(_ storage: Storage) -> [Kind] {
        let (novelists, novels) = (storage.query(Novelist.self), storage.query(Novel.self))
        return [
            Kind("list", novels.where { $0.year > 2000 }.orderBy(\.year, .descending).limit(5).live()),
            Kind("page", novels.orderBy(\.year).offset(3).limit(4).live()),
            Kind("first", novels.orderBy(\.year).liveFirst()),
            Kind("count", novels.where { $0.year > 2000 }.liveCount()),
            Kind("totals", novels.liveAggregates(.count, .sum(\.year), .max(\.year))),
            Kind("grouped totals", novels.liveAggregates(.count, groupedBy: \.publisherId)),
            Kind("groups", novelists.liveGroups(by: \.country)),
            Kind("children", novelists.include(\.novels) { $0.orderBy(\.year).limit(2) }.live()),
            Kind("parents", novels.orderBy(\.id).limit(6).include(\.novelist).live()),
            Kind("has", novelists.has(\.novels) { $0.year > 2000 }.live()),
            Kind("aggregates of children", novelists.live(aggregating: \.novels, .count, .max(\.year))),
            Kind(
                "SQL",
                storage.liveValue { db in
                    try String.fetchAll(
                        db,
                        sql:
                            "SELECT n.id || ' ' || b.id FROM novelists AS n JOIN novels AS b ON novelistId = n.id ORDER BY 1"
                    )
                }),
        ]
    }

    private func novelistChange(_ generator: inout SplitMix64) -> OptimisticChange {
        let id = "n\(generator.below(6))"
        guard generator.chance(70) else { return .delete(Novelist.self, id: id) }
        return .save(Novelist(id: id, country: generator.pick(["UA", "PL", "IE"]), mentorId: nil))
    }

    private func novelChange(_ generator: inout SplitMix64) -> OptimisticChange {
        let id = generator.below(18)
        guard generator.chance(70) else { return .delete(Novel.self, id: id) }
        return .save(
            Novel(
                id: id, year: 1990 + generator.below(30),
                novelistId: generator.chance(90) ? "n\(generator.below(6))" : nil,
                publisherId: generator.chance(80) ? generator.below(4) : nil))
    }

    @Test(
        "Every kind of query shows pending what it shows once it is stored",
        arguments: testSeeds(2), [true, false])
    func everyKind(seed: UInt64, isInMemory: Bool) async throws {
        var generator = SplitMix64(seed: seed)
        let folder = try TemporaryFolder()
        let storage = try await Library.open(at: isInMemory ? nil : folder.url.appendingPathComponent("store.sqlite"))
        let fill = generator.next()
        try await storage.write { tx in
            var generator = SplitMix64(seed: fill)
            for _ in 0..<60 { try Library.change(tx, &generator, size: 6) }
        }
        let kinds = kinds(storage)
        var shown: [String] = []
        var positions = [Int64](repeating: -1, count: kinds.count)
        for kind in kinds { shown.append(try #require(try await kind.next()).text) }
        for _ in 0..<(testScale > 1 ? 12 : 6) {
            // All of them read one of these tables.
            let changes =
                [novelChange(&generator), novelistChange(&generator)]
                + (0..<generator.below(4)).map { _ in
                    generator.chance(70) ? novelChange(&generator) : novelistChange(&generator)
                }
            let isStored = generator.chance(70)
            let before = shown
            let gate = Gate()
            let operation = Task {
                try await storage.optimistically(changes) {
                    await gate.wait()
                    if isStored { try await storage.write { tx in for change in changes { try change.apply(tx) } } }
                }
            }
            var pending: [String] = []
            for (index, kind) in kinds.enumerated() {
                let value = try #require(try await kind.next(), "\(kind.name)")
                pending.append(value.text)
                #expect(value.isPending, "\(kind.name)")
                #expect(value.position >= positions[index], "\(kind.name)")
                positions[index] = value.position
            }
            let isChangedMeanwhile = generator.chance(50)
            if isChangedMeanwhile {
                let fill = generator.next()
                try await storage.write { tx in
                    var generator = SplitMix64(seed: fill)
                    for _ in 0..<3 { try Library.change(tx, &generator, size: 6) }
                }
                for (index, kind) in kinds.enumerated() {
                    // The commit may have changed nothing that this one reads; then it shows no further value.
                    let fresh = try #require(try await kind.fresh(), "\(kind.name)")
                    while pending[index] != fresh {
                        let value = try #require(try await kind.next(), "\(kind.name)")
                        pending[index] = value.text
                        #expect(value.isPending, "\(kind.name)")
                        #expect(value.position >= positions[index], "\(kind.name)")
                        positions[index] = value.position
                    }
                }
            }
            gate.open()
            try await operation.value
            for (index, kind) in kinds.enumerated() {
                var value = try #require(try await kind.next(), "\(kind.name)")
                while value.isPending { value = try #require(try await kind.next()) }
                let withdrawn = try await isChangedMeanwhile ? kind.fresh() : before[index]
                #expect(value.text == (isStored ? pending[index] : withdrawn), "\(kind.name), stored: \(isStored)")
                #expect(value.position >= positions[index], "\(kind.name)")
                positions[index] = value.position
                shown[index] = value.text
            }
        }
    }

    /// The last text that each kind has shown.
    private final class Shown: Sendable {
        let texts: Mutex<[String]>

        init(count: Int) { texts = Mutex([String](repeating: "", count: count)) }
    }

    @Test("No commit is missed while values with pending changes are read", arguments: testSeeds(2), [true, false])
    func commitsWhileReading(seed: UInt64, isInMemory: Bool) async throws {
        var generator = SplitMix64(seed: seed)
        let folder = try TemporaryFolder()
        let storage = try await Library.open(at: isInMemory ? nil : folder.url.appendingPathComponent("store.sqlite"))
        let (gate, operation) = begin(novelChange(&generator), novelistChange(&generator), in: storage)
        try await eventually { gate.isReached }
        let kinds = kinds(storage)
        let shown = Shown(count: kinds.count)
        let readers = kinds.enumerated().map { index, kind in
            Task {
                while let value = try await kind.next() { shown.texts.withLock { $0[index] = value.text } }
            }
        }
        defer {
            gate.open()
            for reader in readers { reader.cancel() }
        }
        for _ in 0..<80 {
            let fill = generator.next()
            try await storage.write { tx in
                var generator = SplitMix64(seed: fill)
                try Library.change(tx, &generator, size: 6)
            }
        }
        // Nothing is committed any more, so a wake that was lost stays lost.
        for (index, kind) in kinds.enumerated() {
            let fresh = try #require(try await kind.fresh(), "\(kind.name)")
            do {
                try await eventually { shown.texts.withLock { $0[index] } == fresh }
            } catch {
                Issue.record("\(kind.name) shows \(shown.texts.withLock { $0[index] }), not \(fresh)")
            }
        }
        gate.open()
        await operation.value
    }
}
