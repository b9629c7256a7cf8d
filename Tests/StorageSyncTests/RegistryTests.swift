import StorageEntities
import StorageKit
import StorageTesting
import Testing

@testable import StorageSync

private struct ChoreSources: QuerySourceProvider {
    let title: String
    var all: QuerySource<Chore> { QuerySource(Household.all) }
    static var querySourceNames: [PartialKeyPath<ChoreSources>: String] { [\ChoreSources.all: "all"] }
}

extension Chore {
    @QuerySources fileprivate struct Sources {
        let remote: FakeRemote
        var all: QuerySource<Chore> {
            QuerySource(Chore.all()).remote { [remote] in try await remote.all() }.cache(.cacheFirst(ttl: .hours(1)))
        }
    }
}

@StorageEntity
private struct Errand {
    var id: Int
}

extension Errand {
    @QuerySources fileprivate struct Sources {
        let remote: RemoteRows<Errand>
        var all: QuerySource<Errand> {
            QuerySource(Errand.all()).remote { [remote] in try await remote.all() }.cache(.cacheFirst(ttl: .hours(1)))
        }
    }
}

/// A conformance by hand, without names.
private struct Unnamed: QuerySourceProvider {
    var all: QuerySource<Chore> { QuerySource(Chore.all()) }
    var named: QuerySource<Chore> { QuerySource(Chore.all(), name: "chores") }
    var urgent: (Int) -> QuerySource<Chore> {
        { QuerySource(Chore.all().filter(Chore.Columns.priority == $0)) }
    }
}

/// Which provider is found where.
@Suite struct RegistryTests {
    @Test("A registry finds what is registered inside and around")
    func nestedRegistries() async throws {
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
    @Test("Scopes don't mix", arguments: 0..<8)
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

    /// The short name of both types is the same.
    @Test("Providers inside of two entities don't share their age")
    @MainActor func providersInsideEntities() async throws {
        let container = try PersistenceContainer.inMemory {
            $0.autoSchema(ChoreRecord.self)
            $0.autoSchema(ErrandRecord.self)
        }
        let (chores, errands) = (FakeRemote(), RemoteRows([Errand(id: 1)]))
        _ = try await container.fetch(Chore.Sources(remote: chores).source(\.all))
        #expect(try await container.fetch(Errand.Sources(remote: errands).source(\.all)).map(\.id) == [1])
        #expect(chores.count == 1)
        #expect(errands.count == 1)
        let names = try await container.storage.querySourceStatuses().map(\.source)
        #expect(names == ["Chore.Sources.all", "Errand.Sources.all"])
    }

    @Test("Names contain neither modules nor places")
    func providerNames() {
        struct Local {}
        #expect(ProviderName.of(Local.self) == "RegistryTests.Local")
        #expect(ProviderName.of(Chore.Sources.self) == "Chore.Sources")
        #expect(ProviderName.of(RemoteRows<Chore.Sources>.self) == "RemoteRows<Chore.Sources>")
        for (reflected, name) in [
            ("App.TaskSources", "TaskSources"),
            ("(extension in App):Lib.Task.Sources", "Task.Sources"),
            ("App.(unknown context at $55d0).(unknown context at $55d4).Task.Sources", "Task.Sources"),
            ("App.List<Swift.Array<Lib.Task>>.Sources", "List<Array<Task>>.Sources"),
            ("App.List<(Swift.Int, App.(unknown context at $1).Key) -> Lib.Task>", "List<(Int, Key) -> Task>"),
        ] {
            #expect(ProviderName.withoutContexts(reflected) == name)
        }
    }

    /// They are those of their queries, which are the same in each run.
    @Test("Sources without a name are known by their query")
    func unnamedSources() throws {
        let sources = Unnamed()
        let all = sources.source(\.all)
        #expect(all.name == QuerySource(Chore.all()).name)
        #expect(all.parameter == "")
        #expect(sources.source(\.named).name == "chores")
        let urgent = try sources.source(\.urgent, 2)
        #expect(urgent.name == sources.urgent(2).name)
        #expect(urgent.parameter == sources.urgent(2).parameter)
    }
}
