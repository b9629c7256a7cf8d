import StorageKit
import StorageTesting
import Testing

/// The second mistake of every new user: an entity that wasn't declared. Each typed call says to declare it.
@Suite struct UndeclaredEntityTests {
    @StorageEntity
    struct Stray {
        var id: Int
        var name: String
    }

    private static let calls: [(String, @Sendable (Storage) async throws -> Void)] = [
        ("save", { _ = try await $0.save(Stray(id: 1, name: "a")) }),
        ("save many", { _ = try await $0.save([Stray(id: 1, name: "a")]) }),
        ("save expecting", { _ = try await $0.save(Stray(id: 1, name: "a"), expecting: .absent) }),
        ("get", { _ = try await $0.get(Stray.self, id: 1) }), ("all", { _ = try await $0.all(Stray.self) }),
        ("page", { _ = try await $0.page(Stray.self, limit: 1) }), ("count", { _ = try await $0.count(Stray.self) }),
        ("exists", { _ = try await $0.exists(Stray.self, id: 1) }),
        ("position", { _ = try await $0.position(of: Stray.self, id: 1) }),
        ("delete", { _ = try await $0.delete(Stray.self, id: 1) }),
        ("deleteAll", { _ = try await $0.deleteAll(Stray.self) }),
        ("history", { _ = try await $0.history(Stray.self, id: 1) }),
        ("query", { _ = try await $0.query(Stray.self).where { $0.id > 1 }.fetch() }),
        ("query count", { _ = try await $0.query(Stray.self).count() }),
        ("query page", { _ = try await $0.query(Stray.self).page(size: 1) }),
        ("query deleteAll", { _ = try await $0.query(Stray.self).deleteAll() }),
        ("write get", { storage in _ = try await storage.write { _ = try $0.get(Stray.self, id: 1) } }),
        ("readTransaction", { storage in _ = try await storage.readTransaction { try $0.all(Stray.self) } }),
        ("query explain", { _ = try await $0.query(Stray.self).where { $0.id > 1 }.explain() }),
        ("blame", { _ = try await $0.blame(Stray.self, id: 1) }),
        ("diff", { for try await _ in $0.diff(Stray.self, from: .position(0)) {} }),
        ("loadChildren", { _ = try await $0.loadChildren(Stray.self, where: "name", equals: "a") }),
    ]

    @Test("The error says to declare the entity", arguments: calls.map(\.0))
    func undeclaredEntity(call: String) async throws {
        let storage = try StorageKit.inMemory().facade
        let body = try #require(Self.calls.first { $0.0 == call }?.1)
        let error = await #expect(throws: StorageError.self) { try await body(storage) }
        #expect(error?.code == .notFound, "\(call)")
        #expect(error?.message.contains("\"strays\"") == true)
        #expect(error?.remedy.contains("autoSchema") == true)
    }
}
