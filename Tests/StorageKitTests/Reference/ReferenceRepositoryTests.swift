import StorageEntities
import StorageKit
import StorageTesting
import Testing

/// The reference's chapter on repositories: typed, without their type, and handed to services.
@Suite struct ReferenceRepositoryTests {
    @StorageEntity
    struct Parcel {
        var id: String
        var depot: String
        var weight: Int
    }

    private func open() async throws -> StorageKit.Context {
        let context = try StorageKit.inMemory { $0.autoSchema(ParcelRecord.self) }
        try await context.facade.save((0..<25).map(parcel))
        return context
    }

    private func parcel(_ number: Int) -> Parcel {
        Parcel(id: "p\(100 + number)", depot: number % 5 == 0 ? "north" : "south", weight: 25 - number)
    }

    @Test("Every way to a repository leads to the same rows")
    func everyRepository() async throws {
        let context = try await open()
        let typed: GenericRepository<Parcel, ParcelRecord> = context.makeRepository(
            Parcel.self, record: ParcelRecord.self)
        let facade: GenericRepository<Parcel, ParcelRecord> = context.facade.repository(Parcel.self)
        let erased: AnyRepository<Parcel> = context.repository(Parcel.self, record: ParcelRecord.self)
        let any: AnyRepository<Parcel> = context.facade.anyRepository(Parcel.self)
        try await typed.put(Parcel(id: "new", depot: "west", weight: 1))
        #expect(try await facade.get(id: "new")?.depot == "west")
        #expect(try await erased.get(id: "new") == (try await any.get(id: "new")))
        #expect(try await typed.erased.countAll() == 26)
    }

    @Test("A typed repository reads and writes")
    func typedRepository() async throws {
        let parcels = try await open().facade.repository(Parcel.self)
        #expect(try await parcels.get(id: "p101") == parcel(1))
        try await parcels.put(Parcel(id: "p101", depot: "east", weight: 7))
        #expect(try await parcels.get(id: "p101")?.depot == "east")
        try await parcels.putAll([
            Parcel(id: "x1", depot: "east", weight: 8), Parcel(id: "x2", depot: "east", weight: 6),
        ])
        let east = try await parcels.getAll(where: "depot", equals: "east", orderBy: "weight", ascending: false)
        #expect(east.map(\.id) == ["x1", "p101", "x2"])
        #expect(try await parcels.getAll(where: "depot", equals: "east").map(\.id) == ["p101", "x1", "x2"])
        #expect(try await parcels.getAll(where: "weight", equals: 8).contains { $0.id == "x1" })
        #expect(try await parcels.getAll().first?.id == "p100")
        #expect(try await parcels.getAll(orderBy: "weight", ascending: false).first?.weight == 25)
        try await parcels.delete(id: "x1")
        try await parcels.delete(id: "x1")
        #expect(try await parcels.get(id: "x1") == nil)
        #expect(try await parcels.countAll() == 26)
        #expect(try await parcels.deleteAll(where: "depot", equals: "north") == 5)
        #expect(try await parcels.deleteAll() == 21)
        #expect(try await parcels.countAll() == 0)
    }

    @Test("A type-erased repository does the same")
    func erasedRepository() async throws {
        let parcels = try await open().facade.anyRepository(Parcel.self)
        try await parcels.put(Parcel(id: "p101", depot: "east", weight: 7))
        try await parcels.putAll([Parcel(id: "x1", depot: "east", weight: 8)])
        #expect(
            try await parcels.getAll(where: "depot", equals: "east", orderBy: "weight").map(\.id) == ["p101", "x1"])
        #expect(try await parcels.getAll(orderBy: "weight", ascending: false).first?.weight == 25)
        try await parcels.delete(id: "x1")
        #expect(try await parcels.get(id: "x1") == nil)
        #expect(try await parcels.getPage(orderBy: "weight", limit: 2).items.map(\.weight) == [1, 2])
        #expect(try await parcels.countAll() == 25)
        #expect(try await parcels.deleteAll(where: "depot", equals: "north") == 5)
        #expect(try await parcels.deleteAll() == 20)
    }

    @Test("Pages are read to the end")
    func repositoryPages() async throws {
        let parcels = try await open().facade.repository(Parcel.self)
        let first: RepoPage<Parcel> = try await parcels.getPage(orderBy: "weight", limit: 20, offset: 0)
        #expect(first.items.count == 20)
        #expect(first.hasMore)
        #expect(first.nextOffset == 20)
        var seen: [String] = []
        var offset = 0
        while true {
            let page = try await parcels.getPage(limit: 10, offset: offset)
            seen += page.items.map(\.id)
            guard page.hasMore else { break }
            offset = page.nextOffset
        }
        #expect(seen == (0..<25).map { parcel($0).id })
    }

    /// What the cache flow of the reference promises: memory first, then the database, which fills it; a write is in the
    /// database when it returns, and memory never holds what is no longer true.
    @Test("A read fills memory and a write empties it")
    func cacheFlow() async throws {
        let context = try await open()
        let parcels = context.facade.repository(Parcel.self)
        #expect(try await parcels.get(id: "p101", policy: .memoryOnly) == nil)
        #expect(try await parcels.get(id: "p101", policy: .uncached) == parcel(1))
        #expect(try await parcels.get(id: "p101", policy: .memoryOnly) == nil)
        #expect(try await parcels.get(id: "p101", policy: .localFirst) == parcel(1))
        #expect(try await parcels.get(id: "p101", policy: .memoryOnly) == parcel(1))
        try await parcels.put(Parcel(id: "p101", depot: "east", weight: 7))
        #expect(try await parcels.get(id: "p101", policy: .memoryOnly) == nil)
        #expect(try await parcels.get(id: "p101", policy: .database)?.depot == "east")
        #expect(try await parcels.get(id: "p101", policy: .memoryOnly)?.depot == "east")
    }

    // MARK: Handed to a service

    private protocol ParcelService: Sendable {
        var parcels: AnyRepository<Parcel> { get }
    }

    private final class Counter: ParcelService {
        let parcels: AnyRepository<Parcel>

        init(storage: Storage) { parcels = storage.anyRepository(Parcel.self) }

        func find(weight: Int) async throws -> Parcel? {
            let all = try await parcels.getAll()
            return all.first { $0.weight == weight }
        }
    }

    @Test("A service knows only the repository it is given")
    func injectedRepository() async throws {
        let counter = Counter(storage: try await open().facade)
        #expect(try await counter.find(weight: 24)?.id == "p101")
        let service: any ParcelService = counter
        #expect(try await service.parcels.countAll() == 25)
    }
}
