import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Queries that are bounded to rows that a user may read.
@Suite(.timeLimit(.minutes(10))) struct ScopeTests {
    private func open() async throws -> Storage {
        let storage = try await Library.filled()
        try await storage.save([Chapter(id: 1, pages: 10, novelId: 1), Chapter(id: 2, pages: 30, novelId: 3)])
        return storage
    }

    private func scope(_ storage: Storage, publisher: Int = 1) -> ScopedStorage {
        storage.scoped { scope in
            scope.allow(Novel.self) { $0.publisherId == publisher }
            scope.allow(Novelist.self)
        }
    }

    private func message(_ body: () async throws -> some Any) async -> String {
        do {
            return "no error: \(try await body())"
        } catch {
            return "\(error)"
        }
    }

    @Test("Rows outside of the scope are neither found, counted, included nor asked about")
    func bounds() async throws {
        let mine = scope(try await open())
        let (novels, novelists) = (mine.query(Novel.self), mine.query(Novelist.self).orderBy(\.id))
        #expect(try await novels.fetch().map(\.id) == [1])
        #expect(try await novels.where { $0.year > 0 }.count() == 1)
        #expect(try await novels.max(\.year) == 1990)
        #expect(try await novels.where { $0.id == 2 || $0.id == 1 }.fetch().map(\.id) == [1])
        #expect(try await novels.where { $0.id == 2 }.exists() == false)
        #expect(try await mine.get(Novel.self, id: 1)?.year == 1990)
        #expect(try await mine.get(Novel.self, id: 2) == nil)
        #expect(try await novels.page(size: 5).items.map(\.id) == [1])
        #expect(try await novelists.include(\.novels).fetch().map { $0.novels.map(\.id) } == [[1], []])
        let nested = novelists.include(\.novels) {
            $0.where { $0.year > 0 }.include(\.novelist) { $0.include(\.novels) }
        }
        #expect(try await nested.fetch()[0].novels[0].novelist?.novels.map(\.id) == [1])
        #expect(try await novelists.has(\.novels).fetch().map(\.id) == ["a"])
        #expect(try await novelists.has(\.novels) { $0.year > 2000 }.count() == 0)
        #expect(try await novelists.hasNo(\.novels) { $0.year > 2000 }.count() == 2)
        #expect(try await novelists.has(\.novels, matching: Novel.all().has(\.novelist)).count() == 1)
        #expect(try await novelists.has(Novel.self, by: \.novelistId) { $0.year == 2020 }.exists() == false)
        var replaced = novels
        replaced.request = Novel.all().orderBy(\.year)
        #expect(try await replaced.fetch().map(\.id) == [1])
    }

    /// The closure of an include may return any request, such as one that was made before the scope.
    @Test("An include with a request of its own finds nothing outside of the scope")
    func includedRequests() async throws {
        let storage = try await open()
        let mine = scope(storage)
        let (novels, novelists) = (mine.query(Novel.self), mine.query(Novelist.self).orderBy(\.id))
        let own = novelists.include(\.novels) { _ in Novel.all() }
        #expect(try await own.fetch().map { $0.novels.map(\.id) } == [[1], []])
        #expect(try await own.page(size: 5).items.map { $0.novels.map(\.id) } == [[1], []])
        #expect(try await own.fetch(aggregating: \.novels, .count, matching: Novel.all()).map(\.value) == [1, 0])
        let byColumn = novelists.include(\.novels, by: \.novelistId) { _ in Novel.all() }
        #expect(try await byColumn.fetch().map { $0.novels.map(\.id) } == [[1], []])
        let nested = novels.include(\.novelist) { _ in Novelist.all().include(\.novels) { _ in Novel.all() } }
        #expect(try await nested.fetch().map { $0.novelist?.novels.map(\.id) } == [[1]])
        let inner = novels.include(\.novelist) { $0.include(\.novels) { _ in Novel.all() } }
        #expect(try await inner.fetch().map { $0.novelist?.novels.map(\.id) } == [[1]])

        let refused = mine.query(Novel.self).include(\.chapters) { _ in Chapter.all() }
        #expect(await message { try await refused.fetch() }.contains("The scope doesn't know"))
        let custom = novelists.include(\.novels) { _ in Novel.all().filter(.sql("publisherId = 2")) }
        #expect(await message { try await custom.fetch() }.contains("SQL of your own"))
        await #expect(throws: StorageError.self) { for try await _ in refused.live().snapshots {} }
        await #expect(throws: StorageError.self) { for try await _ in custom.live().snapshots {} }

        var live = own.live().snapshots.makeAsyncIterator()
        #expect(try await live.next()?.map { $0.novels.map(\.id) } == [[1], []])
        try await storage.save(Novel(id: 4, year: 2024, novelistId: "b", publisherId: 2))
        try await storage.save(Novel(id: 5, year: 2025, novelistId: "b", publisherId: 1))
        #expect(try await live.next()?.map { $0.novels.map(\.id) } == [[1], [5]])
    }

    @Test("What a scope doesn't know can't be queried")
    func unknownEntities() async throws {
        let mine = scope(try await open())
        let novels = mine.query(Novel.self)
        for error in [
            await message { try await mine.query(Publisher.self).fetch() },
            await message { try await mine.get(Chapter.self, id: 1) },
            await message { try await novels.include(\.chapters).fetch() },
            await message { try await novels.has(\.publisher).count() },
            await message {
                try await novels.hasNo(
                    \.novelist,
                    matching: Novelist.all().has(
                        \.pupils, matching: Novelist.all().has(\.novels, matching: Novel.all().has(\.chapters)))
                ).count()
            },
        ] {
            #expect(error.contains("The scope doesn't know"))
        }
        await #expect(throws: StorageError.self) {
            for try await _ in mine.query(Publisher.self).live().snapshots {}
        }
    }

    @Test("SQL of one's own is refused in queries, and allowed in the scope")
    func customSQL() async throws {
        let storage = try await open()
        let mine = storage.scoped { scope in
            scope.allow(Novel.self) { _ in .sql("publisherId = ?", 1) }
            scope.allow(Novelist.self)
        }
        let (novels, novelists) = (mine.query(Novel.self), mine.query(Novelist.self))
        #expect(try await novels.fetch().map(\.id) == [1])
        let outside = RowPredicate.sql("EXISTS (SELECT 1 FROM novels AS n WHERE n.publisherId = 2)")
        var replaced = novels
        replaced.request = Novel.all().filter(outside)
        for error in [
            await message { try await novels.filter(outside).fetch() },
            await message { try await novels.where { $0.id == 1 || outside }.fetch() },
            await message { try await novelists.has(\.novels) { _ in outside }.fetch() },
            await message { try await novelists.include(\.novels) { $0.filter(outside) }.fetch() },
            await message { try await novelists.has(\.novels, matching: Novel.all().filter(outside)).fetch() },
            await message { try await replaced.fetch() },
        ] {
            #expect(error.contains("SQL of your own"))
        }
    }

    @Test("A scope with a condition in SQL accepts its own queries, and bounds those of others")
    func ownQueries() async throws {
        let storage = try await open()
        func makeScope(_ publisher: Int) -> ScopedStorage {
            storage.scoped { scope in
                scope.allow(Novel.self) { _ in .sql("publisherId = ?", .integer(Int64(publisher))) }
                scope.allow(Novelist.self)
                scope.allow(Chapter.self) { _ in .sql("abs(pages) > 0") }
            }
        }
        let (mine, other) = (makeScope(1), makeScope(2))
        let (novels, novelists) = (mine.query(Novel.self), mine.query(Novelist.self).orderBy(\.id))
        #expect(try await novelists.has(\.novels, matching: novels.request).fetch().map(\.id) == ["a"])
        #expect(try await novelists.has(\.novels, matching: novels.where { $0.year > 2000 }.request).count() == 0)
        #expect(try await novelists.hasNo(\.novels, matching: novels.where { $0.year > 2000 }.request).count() == 2)
        #expect(try await novels.has(\.chapters, matching: mine.query(Chapter.self).request).fetch().map(\.id) == [1])
        let nested = novels.has(\.chapters, matching: mine.query(Chapter.self).where { $0.pages > 20 }.request).request
        #expect(try await novelists.has(\.novels, matching: nested).count() == 0)
        #expect(
            try await novelists.fetch(aggregating: \.novels, .count, matching: novels.request).map(\.value) == [1, 0])

        let outside = RowPredicate.sql("publisherId = 2")
        for query in [
            novelists.has(\.novels, matching: novels.filter(outside).request),
            novelists.has(\.novels, matching: other.query(Novel.self).request),
            novelists.has(\.novels, matching: storage.query(Novel.self).filter(outside).request),
        ] {
            #expect(await message { try await query.fetch() }.contains("SQL of your own"))
        }
    }

    @Test("Rows that come into the scope or leave it come into live queries or leave them")
    func live() async throws {
        let storage = try await open()
        let mine = scope(storage)
        var novels = mine.query(Novel.self).orderBy(\.id).live().snapshots.makeAsyncIterator()
        var novelists = mine.query(Novelist.self).has(\.novels).include(\.novels).live().snapshots.makeAsyncIterator()
        var count = mine.query(Novel.self).liveCount().snapshots.makeAsyncIterator()
        #expect(try await novels.next()?.map(\.id) == [1])
        #expect(try await novelists.next()?.map { $0.novels.map(\.id) } == [[1]])
        #expect(try await count.next() == 1)
        try await storage.save(Novel(id: 3, year: 2020, novelistId: "b", publisherId: 1))
        #expect(try await novels.next()?.map(\.id) == [1, 3])
        #expect(try await novelists.next()?.map { $0.novels.map(\.id) } == [[1], [3]])
        #expect(try await count.next() == 2)
        try await storage.query(Novel.self).where { $0.id == 1 }.updateAll { $0.publisherId.set(to: 2) }
        #expect(try await novels.next()?.map(\.id) == [3])
        #expect(try await novelists.next()?.map { $0.novels.map(\.id) } == [[3]])
        #expect(try await count.next() == 1)
    }
}
