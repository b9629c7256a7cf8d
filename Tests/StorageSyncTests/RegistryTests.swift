import StorageKit
import StorageSync
import StorageTesting
import Testing

private struct ChoreSources: QuerySourceProvider {
    let title: String
    var all: QuerySource<Chore> { QuerySource(Household.all) }
    static var querySourceNames: [PartialKeyPath<ChoreSources>: String] { [\ChoreSources.all: "all"] }
}

/// Which provider is found where.
@Suite struct RegistryTests {
    @Test func aRegistryFindsWhatIsRegisteredInsideAndAround() async throws {
        let outer = QuerySourceRegistry()
        #expect(outer.resolve(ChoreSources.self) == nil)
        outer.register(ChoreSources(title: "outer"))
        let inner = QuerySourceRegistry(parent: outer)
        #expect(inner.resolve(ChoreSources.self)?.title == "outer")
        inner.register(ChoreSources(title: "inner"))
        #expect(inner.resolve(ChoreSources.self)?.title == "inner")
        #expect(outer.resolve(ChoreSources.self)?.title == "outer")
    }

    /// Tests side by side each have their own.
    @Test(arguments: 0..<8)
    func scopesDontMix(number: Int) async throws {
        await withQuerySources(ChoreSources(title: "\(number)")) {
            for _ in 0..<20 {
                await Task.yield()
                #expect(QuerySourceRegistry.current.resolve(ChoreSources.self)?.title == "\(number)")
                await Task { #expect(QuerySourceRegistry.current.resolve(ChoreSources.self)?.title == "\(number)") }
                    .value
            }
            withQuerySources(ChoreSources(title: "nested")) {
                #expect(QuerySourceRegistry.current.resolve(ChoreSources.self)?.title == "nested")
            }
        }
        #expect(QuerySourceRegistry.current.resolve(ChoreSources.self) == nil)
    }
}
