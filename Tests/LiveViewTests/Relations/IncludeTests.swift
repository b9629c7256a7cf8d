import StorageKit
import StorageTesting
import Testing

/// Queries that read related rows along, and conditions on related rows.
@Suite struct IncludeTests {
    private func open(hasIndexes: Bool = true) async throws -> Storage {
        let storage = try await Library.open(hasIndexes: hasIndexes)
        try await storage.save([Publisher(id: 1, city: "Kyiv"), Publisher(id: 2, city: "Lviv")])
        try await storage.save([
            Novelist(id: "a", country: "UA"), Novelist(id: "b", country: "PL", mentorId: "a"),
            Novelist(id: "c", country: "UA", mentorId: "a"),
        ])
        try await storage.save([
            Novel(id: 1, year: 1990, novelistId: "a", publisherId: 1),
            Novel(id: 2, year: 2010, novelistId: "a", publisherId: 2),
            Novel(id: 3, year: 2000, novelistId: "a"), Novel(id: 4, year: 2020, novelistId: "b", publisherId: 1),
            Novel(id: 5, year: 1980),
        ])
        try await storage.save([
            Chapter(id: 1, pages: 10, novelId: 1), Chapter(id: 2, pages: 30, novelId: 1),
            Chapter(id: 3, pages: 20, novelId: 4),
        ])
        return storage
    }

    // MARK: Including

    @Test("Children are read in an order, up to a limit for each parent")
    func children() async throws {
        let storage = try await open()
        let query = storage.query(Novelist.self).orderBy(\.id)
        let all = try await query.include(\.novels).fetch()
        #expect(all.map { $0.novels.map(\.id) } == [[1, 2, 3], [4], []])
        let latest = try await query.include(\.novels) { $0.orderBy(\.year, .descending).limit(2) }.fetch()
        #expect(latest.map { $0.novels.map(\.id) } == [[2, 3], [4], []])
        let recent = try await query.include(\.novels) { $0.where { $0.year >= 2010 } }.fetch()
        #expect(recent.map { $0.novels.map(\.id) } == [[2], [4], []])
        #expect(try await query.include(\.novels).fetchOne()?.novels.count == 3)
        #expect(try await query.include(\.novels).count() == 3)
    }

    @Test("Parents are read, and what is included includes rows itself")
    func levels() async throws {
        let storage = try await open()
        let novels = try await storage.query(Novel.self).orderBy(\.id).include(\.novelist).include(\.publisher).fetch()
        #expect(novels.map { $0.novelist?.country } == ["UA", "UA", "UA", "PL", nil])
        #expect(novels.map { $0.publisher?.city } == ["Kyiv", "Lviv", nil, "Kyiv", nil])
        let novelists = try await storage.query(Novelist.self).orderBy(\.id)
            .include(\.novels) { novel in
                novel.orderBy(\.id)
                    .include(\.chapters) { $0.orderBy(\.pages, .descending) }
                    .include(\.publisher) { $0.where { $0.city == "Kyiv" } }
            }
            .include(\.pupils) { $0.orderBy(\.id) }
            .fetch()
        #expect(novelists[0].novels.map { $0.chapters.map(\.id) } == [[2, 1], [], []])
        #expect(novelists[0].novels.map { $0.publisher?.id } == [1, nil, nil])
        #expect(novelists[1].novels.map { $0.chapters.map(\.id) } == [[3]])
        #expect(novelists.map { $0.pupils.map(\.id) } == [["b", "c"], [], []])
    }

    @Test("Columns are named where properties aren't marked")
    func explicitKeys() async throws {
        let storage = try await open()
        let novelists = try await storage.query(Novelist.self).orderBy(\.id)
            .include(\.novels, by: \.novelistId) { $0.orderBy(\.year).limit(1) }.fetch()
        #expect(novelists.map { $0.novels.map(\.id) } == [[1], [4], []])
        let novels = try await storage.query(Novel.self).orderBy(\.id).include(\.publisher, through: \.publisherId)
            .fetch()
        #expect(novels.map { $0.publisher?.id } == [1, 2, nil, 1, nil])
    }

    @Test("Pages, transactions and the past include rows as well")
    func readers() async throws {
        let storage = try await open()
        let before = storage.head
        try await storage.write { tx in
            try tx.delete(Novel.self, id: 2)
            let novelists = try tx.query(Novelist.self).orderBy(\.id).include(\.novels).fetch()
            #expect(novelists.map { $0.novels.map(\.id) } == [[1, 3], [4], []])
        }
        let page = try await storage.query(Novelist.self).orderBy(\.id).include(\.novels).page(size: 1)
        #expect(page.items.map { $0.novels.map(\.id) } == [[1, 3]])
        let past = try await storage.asOf(.position(before)).query(Novelist.self).orderBy(\.id).include(\.novels)
            .has(\.novels).fetch()
        #expect(past.map { $0.novels.map(\.id) } == [[1, 2, 3], [4]])
    }

    @Test("Whether a row exists doesn't depend on what it includes")
    func existence() async throws {
        let storage = try await open()
        try await storage.write { try $0.execute("UPDATE novels SET year = 'unknown' WHERE id = 1") }
        let query = storage.query(Novelist.self).orderBy(\.id).include(\.novels)
        await #expect(throws: StorageError.self) { try await query.fetchOne() }
        #expect(try await query.exists())
        #expect(try await query.limit(5).offset(2).exists())
        #expect(try await !query.offset(3).exists())
        #expect(try await !query.limit(0).exists())
        #expect(try await !query.where { $0.country == "XX" }.exists())
    }

    @Test("Children are counted and summed up beside their parents")
    func aggregates() async throws {
        let storage = try await open()
        let novelists = storage.query(Novelist.self).orderBy(\.id)
        let counts = try await novelists.fetch(aggregating: \.novels, .count)
        #expect(counts.map { "\($0.entity.id) \($0.value)" } == ["a 3", "b 1", "c 0"])
        let past = try await storage.asOf(.head)
        let pastCounts = try await past.query(Novelist.self).orderBy(\.id).fetch(aggregating: \.novels, .count)
        #expect(pastCounts.map(\.value) == counts.map(\.value))
        let totals = try await novelists.where { $0.country == "UA" }.include(\.novels).fetch(
            aggregating: \.novels, .count, .max(\.year)
        ) { $0.year < 2010 }
        #expect(totals.map { $0.value.0 } == [2, 0])
        #expect(totals.map { $0.value.1 } == [2000, nil])
        #expect(totals.map(\.entity.novels.count) == [3, 0])
        await #expect(throws: StorageError.self) { try await novelists.fetch(aggregating: \.unmarked, .count) }
        let mine = storage.scoped { scope in
            scope.allow(Novelist.self)
            scope.allow(Novel.self) { $0.year > 2000 }
        }
        let scoped = try await mine.query(Novelist.self).orderBy(\.id).fetch(aggregating: \.novels, .count)
        #expect(scoped.map(\.value) == [1, 1, 0])
    }

    // MARK: Conditions

    @Test("Rows are found by what their related rows are")
    func conditions() async throws {
        let storage = try await open()
        let novelists = storage.query(Novelist.self).orderBy(\.id)
        func ids(_ query: Query<Novelist>) async throws -> [String] { try await query.fetch().map(\.id) }
        #expect(try await ids(novelists.has(\.novels)) == ["a", "b"])
        #expect(try await ids(novelists.hasNo(\.novels)) == ["c"])
        #expect(try await ids(novelists.has(\.novels) { $0.year > 2010 }) == ["b"])
        #expect(try await ids(novelists.hasNo(\.novels) { $0.year > 2010 }) == ["a", "c"])
        #expect(try await ids(novelists.where { $0.country == "UA" }.has(\.novels)) == ["a"])
        #expect(try await ids(novelists.has(Novel.self, by: \.novelistId) { $0.year == 2020 }) == ["b"])
        #expect(try await ids(novelists.hasNo(Novel.self, by: \.novelistId) { $0.year == 2020 }) == ["a", "c"])
        let long = Novel.all().has(\.chapters) { $0.pages > 25 }
        #expect(try await ids(novelists.has(\.novels, matching: long)) == ["a"])
        #expect(try await ids(novelists.hasNo(\.novels, matching: long)) == ["b", "c"])
        #expect(try await ids(novelists.has(\.pupils) { $0.country == "PL" }) == ["a"])
        #expect(try await novelists.has(\.novels).count() == 2)
        #expect(try await novelists.has(\.novels).limit(1).count() == 1)
        #expect(try await novelists.has(\.novels).exists())
    }

    @Test("Rows are found by their parent's columns")
    func parents() async throws {
        let storage = try await open()
        let novels = storage.query(Novel.self).orderBy(\.id)
        func ids(_ query: Query<Novel>) async throws -> [Int] { try await query.fetch().map(\.id) }
        #expect(try await ids(novels.has(\.novelist) { $0.country == "UA" }) == [1, 2, 3])
        #expect(try await ids(novels.hasNo(\.novelist) { $0.country == "UA" }) == [4, 5])
        #expect(try await ids(novels.has(Publisher.self, through: \.publisherId) { $0.city == "Kyiv" }) == [1, 4])
        #expect(try await ids(novels.hasNo(Publisher.self, through: \.publisherId) { $0.city == "Kyiv" }) == [2, 3, 5])
        #expect(try await ids(novels.has(\.novelist, matching: Novelist.all().has(\.pupils))) == [1, 2, 3])
    }

    @Test("Rows are changed by what their related rows are")
    func changes() async throws {
        let storage = try await open()
        let changed = try await storage.query(Novel.self).has(\.chapters).updateAll { $0.year.set(to: 1) }
        #expect(changed == 2)
        #expect(try await storage.query(Novelist.self).hasNo(\.novels).deleteAll() == 1)
        #expect(try await storage.all(Novelist.self).map(\.id) == ["a", "b"])
    }

    // MARK: Mistakes

    @Test("What can't be answered says why when it is asked")
    func mistakes() async throws {
        let storage = try await open()
        let novelists = storage.query(Novelist.self)
        func message(_ query: Query<Novelist>) async -> String {
            do {
                _ = try await query.fetch()
                return "no error"
            } catch {
                return "\(error)"
            }
        }
        #expect(await message(novelists.has(\.novels, matching: Novel.all().limit(1))).contains("can't have a limit"))
        #expect(await message(novelists.include(\.unmarked)).contains("isn't marked as a relationship"))
        #expect(await message(novelists.has(\.unmarked)).contains("isn't marked as a relationship"))
        let nested = novelists.include(\.novels) { $0.has(\.chapters, matching: Chapter.all().offset(1)) }
        #expect(await message(nested).contains("can't have a limit"))
        await #expect(throws: StorageError.self) { try await novelists.include(\.novels) { $0.limit(-1) }.fetch() }
    }

    @Test("A missing index is reported")
    func missingIndex() async throws {
        func warnings(_ storage: Storage) async throws -> [String] {
            try await storage.query(Novelist.self).has(\.pupils)
                .include(\.novels) { $0.include(\.chapters).include(\.publisher) }.explain().warnings
        }
        #expect(try await warnings(open()).isEmpty)
        let found = try await warnings(open(hasIndexes: false))
        #expect(found.count == 3)
        #expect(found.first?.contains("CREATE INDEX \"novelists_mentorId\" ON \"novelists\"(\"mentorId\")") == true)
    }
}

extension Novelist {
    /// A property that isn't marked.
    var unmarked: [Novel] {
        get { [] }
        set { _ = newValue }
    }
}
