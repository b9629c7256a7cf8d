import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageEntities
@testable import StorageViews

/// Live queries across tables: after every commit they show what a fresh query finds.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LiveRelationTests {
    /// A view or a live query, and what is wrong with it.
    private struct Watched {
        var view: StorageSubscription?
        let fault: @MainActor () async throws -> String?
        var move: @MainActor (inout SplitMix64) async -> Void = { _ in }
    }

    private func list<Entity: RegisteredEntity & Hashable>(_ name: String, _ query: Query<Entity>) -> Watched {
        let list = QuerySubscription(query, start: .immediate)
        return Watched(view: list) {
            let fresh = try await query.fetch()
            return list.items == fresh ? nil : "\(name) shows \(list.items) instead of \(fresh)"
        }
    }

    private func first<Entity: RegisteredEntity & Hashable>(_ name: String, _ query: Query<Entity>) -> Watched {
        let row = SingleQuerySubscription(query, start: .immediate)
        return Watched(view: row) {
            let fresh = try await query.fetchOne()
            return row.item == fresh ? nil : "\(name) shows \(row.item as Any) instead of \(fresh as Any)"
        }
    }

    private func pages<Entity: RegisteredEntity & Hashable>(
        _ name: String, _ query: Query<Entity>, _ style: PaginatedQuerySubscription<Entity>.Style
    ) -> Watched {
        let page = PaginatedQuerySubscription(query, pageSize: 3, style: style, start: .immediate)
        return Watched(view: page) {
            let fresh = try await query.limit(3).offset(page.offset).fetch()
            let total = try await query.count()
            guard page.currentPage == fresh else { return "\(name) shows \(page.currentPage) instead of \(fresh)" }
            return page.totalCount == total ? nil : "\(name) counts \(page.totalCount) instead of \(total)"
        } move: {
            await page.goToPage($0.below(4))
        }
    }

    /// The last value of a live query, as texts.
    private final class Latest {
        var value: [String]?
        var reader: Task<Void, any Error>?

        deinit { reader?.cancel() }
    }

    private func aggregates<each Part: Sendable>(
        _ name: String, _ query: Query<Novelist>, _ aggregates: repeat Aggregate<Novel, each Part>,
        matching novels: QueryRequest<Novel> = Novel.all()
    ) -> Watched {
        func text(_ rows: [AggregatedEntity<Novelist, (repeat each Part)>]) -> [String] {
            rows.map { "\($0.entity.id) \($0.entity.novels.map(\.id)) \($0.value)" }
        }
        let latest = Latest()
        let live = query.live(aggregating: \.novels, repeat each aggregates, matching: novels)
        latest.reader = Task { [weak latest] in
            for try await rows in live.snapshots { latest?.value = text(rows) }
        }
        return Watched {
            let fresh = text(
                try await query.fetch(aggregating: \.novels, repeat each aggregates, matching: novels))
            let end = ContinuousClock.now + .seconds(120)
            while latest.value != fresh, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
            return latest.value == fresh ? nil : "\(name) shows \(latest.value ?? []) instead of \(fresh)"
        }
    }

    /// Queries that are kept up to date change by change.
    private func incremental(_ storage: Storage) -> [Watched] {
        let (novelists, novels) = (storage.query(Novelist.self), storage.query(Novel.self))
        return [
            list("children", novelists.include(\.novels)),
            list(
                "latest children",
                novelists.where { $0.country == "UA" }.orderBy(\.id, .descending).limit(4)
                    .include(\.novels) { $0.where { $0.year >= 2000 }.orderBy(\.year, .descending).limit(2) }),
            list("parents", novels.orderBy(\.year).limit(6).include(\.novelist).include(\.publisher)),
            list(
                "levels",
                novelists.orderBy(\.country).include(\.pupils) { pupil in
                    pupil.include(\.novels) { $0.limit(2).include(\.chapters).include(\.publisher) }
                }),
            first(
                "first", storage.query(Publisher.self).orderBy(\.city).include(\.novels) { $0.include(\.novelist) }),
            list("has", novelists.has(\.novels)),
            list("has none", novelists.orderBy(\.country).limit(4).hasNo(\.novels) { $0.year > 2005 }),
            list("of a parent", novels.orderBy(\.year).offset(1).limit(5).has(\.novelist) { $0.country == "UA" }),
            list(
                "several",
                novels.where { $0.year > 1995 }.has(\.chapters) { $0.pages > 30 }.hasNo(\.publisher) {
                    $0.city == "Lviv"
                }.include(\.chapters).include(\.novelist)),
            list("itself", novelists.has(\.pupils) { $0.country != "UA" }.include(\.pupils)),
            pages("pages", novels.orderBy(\.year).has(\.chapters).include(\.chapters), .numbered),
            pages("anchored", novelists.orderBy(\.country).hasNo(\.pupils).include(\.novels), .anchored),
            aggregates("counts", novelists, .count),
            aggregates(
                "totals", novelists.has(\.novels).orderBy(\.country).limit(5).include(\.novels), .count, .max(\.year),
                .sum(\.publisherId), matching: Novel.all().where { $0.year > 2000 }),
        ]
    }

    /// Conditions on related rows inside of other conditions, of inclusions and of aggregates, also kept up to date change by
    /// change.
    ///
    /// - Parameter comparesBytes: Whether texts are the same only where their bytes are.
    private func nested(_ storage: Storage, comparesBytes: Bool = true) -> [Watched] {
        let (novelists, novels) = (storage.query(Novelist.self), storage.query(Novel.self))
        let publishers = storage.query(Publisher.self)
        let kyiv = Publisher.all().where { $0.city == "Kyiv" }
        return [
            list("deep", novelists.has(\.novels, matching: Novel.all().has(\.chapters) { $0.pages > 40 })),
            list(
                "deep negations",
                publishers.hasNo(\.novels, matching: Novel.all().where { $0.year > 1995 }.hasNo(\.chapters))),
            list(
                "itself twice",
                novelists.orderBy(\.country).has(
                    \.pupils,
                    matching: Novelist.all().hasNo(\.pupils).has(\.novels, matching: Novel.all().has(\.chapters)))),
            list("inside", novelists.include(\.novels) { $0.has(\.chapters) }),
            list(
                "inside of a window",
                novelists.orderBy(\.country).limit(5).include(\.novels) {
                    $0.hasNo(\.publisher) { $0.city == "Kyiv" }.orderBy(\.year, .descending).limit(2).include(
                        \.chapters)
                }),
            list(
                "inside of levels",
                publishers.include(\.novels) { novel in
                    novel.has(\.novelist, matching: Novelist.all().has(\.novels) { $0.year > 2005 })
                        .include(\.novelist) { $0.hasNo(\.pupils).include(\.novels) { $0.has(\.chapters) } }
                }),
            list(
                "parents inside", novels.has(\.chapters).include(\.publisher) { $0.hasNo(\.novels) { $0.year < 1995 } }),
            first("first", novels.orderBy(\.year).has(\.publisher, matching: kyiv.hasNo(\.novels) { $0.year > 2015 })),
            pages("pages", novels.orderBy(\.year).has(\.novelist, matching: Novelist.all().has(\.pupils)), .numbered),
            aggregates("counts", novelists.hasNo(\.pupils), .count, matching: Novel.all().has(\.chapters)),
            aggregates(
                "totals", novelists.orderBy(\.country).limit(5).include(\.novels) { $0.has(\.publisher) }, .count,
                .max(\.year), .sum(\.publisherId),
                matching: Novel.all().where { $0.year > 1995 }.hasNo(
                    \.publisher, matching: kyiv.has(\.novels, matching: Novel.all().has(\.chapters)))),
        ]
            + summaries(
                novels.where { $0.year > 1995 }.has(
                    \.publisher, matching: kyiv.hasNo(\.novels, matching: Novel.all().hasNo(\.chapters))),
                comparesBytes: comparesBytes)
    }

    /// What sums up the novels of a query.
    private func summaries(_ query: Query<Novel>, comparesBytes: Bool) -> [Watched] {
        let count = CountSubscription(query, start: .immediate)
        let extremes = AggregationSubscription(query, .min(\.year), .max(\.year), .sum(\.year), start: .immediate)
        let byNovelist = GroupedAggregationSubscription(
            query, .count, .max(\.year), groupedBy: \.novelistId, start: .immediate)
        let groups = GroupedQuerySubscription(query.orderBy(\.year), groupBy: \.decade, start: .immediate)
        func watched<Shown: Equatable>(
            _ name: String, _ view: StorageSubscription, _ shown: @escaping @MainActor () -> Shown,
            _ fresh: @escaping ([Novel]) -> Shown
        ) -> Watched {
            Watched(view: view) {
                let fresh = fresh(try await query.fetch())
                return shown() == fresh ? nil : "\(name) shows \(shown()) instead of \(fresh)"
            }
        }
        // A collation may take two values for one group.
        let totals = watched("totals of groups", byNovelist) {
            Dictionary(uniqueKeysWithValues: byNovelist.groups.map { ($0.key, "\($0.value)") })
        } _: { novels in
            Dictionary(grouping: novels, by: \.novelistId).mapValues { "\(($0.count, $0.map(\.year).max()))" }
        }
        return [
            watched("a count", count) {
                count.count
            } _: {
                $0.count
            },
            watched("extremes", extremes) {
                [extremes.value.0, extremes.value.1, extremes.value.2]
            } _: { novels in
                [
                    novels.map(\.year).min(), novels.map(\.year).max(),
                    novels.map(\.year).reduce(0, +),
                ]
            },
            watched("groups", groups) {
                groups.groups
            } _: { novels in
                Dictionary(grouping: novels, by: \.decade).mapValues { rows in
                    rows.sorted { ($0.year, $0.id) < ($1.year, $1.id) }
                }
            },
        ] + (comparesBytes ? [totals] : [])
    }

    /// Queries that are reloaded where something changes.
    private func rerun(_ storage: Storage) -> [Watched] {
        let (novelists, novels) = (storage.query(Novelist.self), storage.query(Novel.self))
        return [
            list("own SQL", novels.has(\.chapters) { _ in .sql("pages % 2 = 0") }.include(\.novelist)),
            list(
                "own SQL inside",
                novelists.include(\.novels) { $0.has(\.chapters) { _ in .sql("pages % 2 = 0") } }),
            list(
                "SQL that reads its own table",
                novels.where { $0.year < 2010 && .sql("year < (SELECT max(year) - 10 FROM novels)") }),
            list(
                "SQL that reads another table inside",
                novelists.include(\.novels) { novels in
                    novels.where { _ in .sql("id IN (SELECT novelId FROM chapters WHERE pages > 50)") }
                }),
            pages(
                "SQL that reads another table",
                novels.where { _ in .sql("publisherId IN (SELECT id FROM publishers WHERE city = 'Lviv')") }
                    .orderBy(\.year), .numbered),
        ]
    }

    /// - Parameter isIncremental: What the views' explanations must say; nil where that depends on the tables.
    private func run(
        _ seed: UInt64, isIncremental: Bool? = true,
        open: (inout SplitMix64) async throws -> Storage = { _ in try await Library.open() },
        change: @escaping @Sendable (WriteTransaction, inout SplitMix64, _ size: Int) throws -> Void = {
            try Library.change($0, &$1, size: $2)
        }, _ make: (Storage) -> [Watched]
    ) async throws -> (storage: Storage, reloads: Int) {
        var generator = SplitMix64(seed: seed)
        let storage = try await open(&generator)
        let size = 3 + generator.below(12)
        let fill = generator.next()
        try await storage.write { tx in
            var generator = SplitMix64(seed: fill)
            for _ in 0..<6 * size { try change(tx, &generator, size) }
        }
        let views = make(storage)
        let reloads = await storage.subscriptions.counters.reloads
        for _ in 0..<30 {
            let commit = generator.next()
            let count = 1 + generator.below(5)
            let receipt = try await storage.write { tx in
                var generator = SplitMix64(seed: commit)
                for _ in 0..<count { try change(tx, &generator, size) }
            }
            await storage.waitForViews(through: receipt)
            if generator.chance(30) { await generator.pick(views).move(&generator) }
            for view in views {
                let fault = try await view.fault()
                #expect(fault == nil, "STORAGEKIT_SEED=\(seed) \(fault ?? "")")
                guard fault == nil else { return (storage, 0) }
                #expect(view.view?.error == nil)
            }
        }
        for view in views {
            guard let isIncremental, let explanation = await view.view?.explain() else { continue }
            #expect(explanation.isIncremental == isIncremental, "\(explanation)")
        }
        return (storage, await storage.subscriptions.counters.reloads - reloads)
    }

    @Test("Included rows and conditions on related rows are kept up to date by changes", arguments: testSeeds(4))
    func incrementalQueries(seed: UInt64) async throws {
        let (_, reloads) = try await run(seed) { incremental($0) }
        #expect(reloads == 0, "STORAGEKIT_SEED=\(seed)")
    }

    @Test("Conditions on related rows are kept up to date by changes wherever they are", arguments: testSeeds(5))
    func nestedConditions(seed: UInt64) async throws {
        let (_, reloads) = try await run(seed) { nested($0) }
        #expect(reloads == 0, "STORAGEKIT_SEED=\(seed)")
    }

    @Test("Tables with collations, constraints, cascades and triggers", arguments: testSeeds(2, atLeast: 2))
    func unusualTables(seed: UInt64) async throws {
        _ = try await run(seed, isIncremental: nil) {
            try UnusualLibrary.open(&$0)
        } change: {
            try UnusualLibrary.change($0.database, &$1, size: $2)
        } _: { storage in
            seed.isMultiple(of: 2) ? nested(storage, comparesBytes: false) : incremental(storage)
        }
    }

    @Test("Queries that can only be reloaded are right as well", arguments: testSeeds(2))
    func queriesThatRunAgain(seed: UInt64) async throws {
        _ = try await run(seed, isIncremental: false) { rerun($0) }
    }

    // MARK: Errors

    /// A number whose absolute value is beyond 64 bits, so that ``isReadable`` fails.
    private nonisolated static let unreadable = "-9223372036854775808"

    private nonisolated static func isReadable(_ column: String) -> RowPredicate {
        .sql("abs(CAST(\(column) AS INTEGER)) >= 0")
    }

    @Test("After an error a count is as before until everything could be counted again")
    func countAfterError() async throws {
        let storage = try await Library.filled()
        let count = CountSubscription(
            storage.query(Novel.self).has(\.novelist) { _ in Self.isReadable("country") }, start: .immediate)
        #expect(count.count == 3)
        let receipt = try await storage.write { tx in
            try tx.save(Novelist(id: "z", country: Self.unreadable))
            try tx.save(Novel(id: 9, year: 2000, novelistId: "z"))
        }
        await storage.waitForViews(through: receipt)
        #expect(count.error != nil)
        // Of a novelist whose novels could be counted by themselves.
        await storage.waitForViews(through: try await storage.save(Novel(id: 10, year: 2000, novelistId: "a")))
        #expect(count.error != nil)
        #expect(count.count == 3)
        await storage.waitForViews(through: try await storage.save(Novelist(id: "z", country: "UA")))
        #expect(count.error == nil)
        #expect(count.count == 5)
    }

    @Test("After an error a list is as before until everything could be read again")
    func listAfterError() async throws {
        let storage = try await Library.filled()
        let query = storage.query(Novelist.self).orderBy(\.id).include(\.novels) {
            $0.has(\.publisher) { _ in Self.isReadable("city") }
        }
        let list = QuerySubscription(query, start: .immediate)
        let before = try await query.fetch()
        #expect(list.items == before)
        #expect(before.map { $0.novels.map(\.id) } == [[1, 2], [3]])
        let receipt = try await storage.write { tx in
            // It comes first, so that the others have other indices.
            try tx.save(Novelist(id: "0", country: "UA"))
            try tx.save(Publisher(id: 3, city: Self.unreadable))
            try tx.save(Novel(id: 9, year: 2000, novelistId: "b", publisherId: 3))
        }
        await storage.waitForViews(through: receipt)
        #expect(list.error != nil)
        await storage.waitForViews(
            through: try await storage.save(Novel(id: 1, year: 1991, novelistId: "a", publisherId: 1)))
        #expect(list.error != nil)
        #expect(list.items == before)
        await storage.waitForViews(through: try await storage.save(Publisher(id: 3, city: "Odesa")))
        #expect(list.error == nil)
        #expect(list.items.map { $0.novels.map(\.id) } == [[], [1, 2], [3, 9]])
        #expect(list.items == (try await query.fetch()))
    }

    @Test("An included row beyond the limit that can't be read fails nothing")
    func unreadableRowBeyondLimit() async throws {
        let storage = try await Library.filled()
        try await storage.write { try $0.execute("UPDATE novels SET year = 'word' WHERE id = 2") }
        let query = storage.query(Novelist.self).orderBy(\.id).include(\.novels) { $0.orderBy(\.id).limit(1) }
        let list = QuerySubscription(query, start: .immediate)
        #expect(list.items.map { $0.novels.map(\.id) } == [[1], [3]])
        await storage.waitForViews(
            through: try await storage.save(Novel(id: 1, year: 1991, novelistId: "a", publisherId: 1)))
        #expect(list.items.map { $0.novels.map(\.year) } == [[1991], [2020]])
        #expect(list.error == nil)
    }

    // MARK: Beginnings and slow readers

    @Test("Queries that begin while others write are right in the end", arguments: testSeeds(3))
    func beginningsBesideCommits(seed: UInt64) async throws {
        let storage = try await Library.open()
        let size = 8
        let writing = Task.detached {
            var generator = SplitMix64(seed: seed)
            while true {
                try Task.checkCancellation()
                let seed = generator.next()
                _ = try await storage.write { tx in
                    var generator = SplitMix64(seed: seed)
                    for _ in 0..<4 { try Library.change(tx, &generator, size: size) }
                }
            }
        }
        var views: [Watched] = []
        for _ in 0..<12 {
            views.append(
                aggregates(
                    "has", storage.query(Novelist.self).has(\.novels) { $0.year > 2000 }.include(\.novels), .count))
            views.append(aggregates("hasn't", storage.query(Novelist.self).hasNo(\.pupils).include(\.novels), .count))
            try await Task.sleep(for: .milliseconds(5))
        }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        for view in views {
            let fault = try await view.fault()
            #expect(fault == nil, "STORAGEKIT_SEED=\(seed) \(fault ?? "")")
        }
    }

    @Test("A list that is sent whole to a slow reader says at which position it is")
    func positionOfWhole() async throws {
        let storage = try await Library.open()
        try await storage.save([Novelist(id: "a", country: "UA"), Novelist(id: "b", country: "UA")])
        try await storage.save(Novel(id: 1, year: 0, novelistId: "a"))
        let live = storage.query(Novelist.self).include(\.novels).live()
        var differences = live.differences.makeAsyncIterator()
        var novelists: [Novelist] = []
        try await differences.next()?.apply(to: &novelists)
        var last: CommitReceipt?
        for year in 1...300 {
            let receipt = try await storage.save(Novel(id: 1, year: year, novelistId: "a"))
            // One step for each, so that they are more than are kept for a reader.
            await storage.waitForViews(through: receipt)
            last = receipt
        }
        let receipt = try #require(last)
        let difference = try #require(await differences.next())
        #expect(difference.whole != nil)
        #expect(difference.position == receipt.position)
        difference.apply(to: &novelists)
        #expect(novelists.map { $0.novels.map(\.year) } == [[300], []])
    }

    // MARK: Differences of included rows

    @Test("Differences of included rows lead from an owner's old rows to the new ones", arguments: testSeeds(5))
    func includedDifferences(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let storage = try await Library.open()
        let query = storage.query(Novelist.self).orderBy(\.country).include(\.novels) { $0.include(\.chapters) }
        var differences = query.live().differences.makeAsyncIterator()
        var novelists: [Novelist] = []
        try await differences.next()?.apply(to: &novelists)
        var nested = 0
        for _ in 0..<60 {
            let seed = generator.next()
            let receipt = try await storage.write { tx in
                var generator = SplitMix64(seed: seed)
                for _ in 0..<3 { try Library.change(tx, &generator, size: 4) }
            }
            await storage.waitForViews(through: receipt)
            guard try await query.fetch() != novelists else { continue }
            let difference = try #require(await differences.next())
            let parts = difference.included(\.novels, in: novelists)
            let old = Dictionary(uniqueKeysWithValues: novelists.map { ($0.id, $0.novels) })
            difference.apply(to: &novelists)
            let changed = novelists.indices.filter { index in
                old[novelists[index].id].map { $0 != novelists[index].novels } ?? false
            }
            // An owner that went and came again within the difference is new.
            #expect(Set(parts.map(\.owner)).isSubset(of: changed), "STORAGEKIT_SEED=\(seed)")
            for part in parts {
                var novels = old[novelists[part.owner].id] ?? []
                #expect(part.difference.fits(novels))
                part.difference.apply(to: &novels)
                #expect(novels == novelists[part.owner].novels, "STORAGEKIT_SEED=\(seed)")
            }
            if difference.whole == nil { #expect(parts.map(\.owner) == changed, "STORAGEKIT_SEED=\(seed)") }
            nested += parts.count
        }
        #expect(nested > 0)
    }

    /// SQLite compares as the key does, and an index of the column that refers to it as that column does.
    @Test("Keys that compare otherwise than the columns that refer to them")
    func keysOfAnotherCollation() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(PublisherRecord.self, NovelistRecord.self, NovelRecord.self, ChapterRecord.self)
            $0.migration("novelists without case") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE novelists_new(
                            id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, country TEXT NOT NULL, mentorId TEXT,
                            updatedAt DATETIME NOT NULL)
                        """)
                try db.execute(sql: "DROP TABLE novelists")
                try db.execute(sql: "ALTER TABLE novelists_new RENAME TO novelists")
            }
        }.facade
        let list = QuerySubscription(storage.query(Novel.self).has(\.novelist), start: .immediate)
        let count = CountSubscription(storage.query(Novel.self).has(\.novelist), start: .immediate)
        func change(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) async throws {
            await storage.waitForViews(through: try await storage.write(body).receipt)
        }
        try await change { try $0.save(Novel(id: 1, year: 1_900, novelistId: "bob")) }
        #expect(list.items == [])
        #expect(count.count == 0)
        try await change { try $0.save(Novelist(id: "Bob", country: "UA")) }
        #expect(list.items.map(\.id) == [1])
        #expect(count.count == 1)
        try await change { try $0.execute("DELETE FROM novelists") }
        #expect(list.items == [])
        #expect(count.count == 0)
        let reason = "\"id\" and \"novelistId\" are compared in different ways, by their types or collations"
        #expect(await list.explain()?.tables.map(\.rerunReason) == [nil, reason])
    }
}
