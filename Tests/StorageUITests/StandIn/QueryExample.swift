import StorageUI
import SwiftUI

// What users of query sources write. This file imports StorageUI alone, so Query is the property wrapper.

struct ItemSources<Item: RegisteredEntity>: QuerySourceProvider {
    let fetch: @Sendable () async throws -> [Item]

    var all: QuerySource<Item> {
        QuerySource(Item.all()).remote(fetch: fetch).cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
    }

    var first: (Int) -> QuerySource<Item> {
        { [fetch] count in QuerySource(Item.all().limit(count)).remote(fetch: fetch) }
    }

    static var querySourceNames: [PartialKeyPath<ItemSources>: String] {
        [\ItemSources.all: "all", \ItemSources.first: "first"]
    }
}

struct ItemList<Item: RegisteredEntity & Identifiable>: View {
    @Query(\ItemSources<Item>.all) var items: [Item]
    @Query(\ItemSources<Item>.first, param: 3) var first: [Item]
    @Query(Item.all().limit(10)) var local: [Item]

    var body: some View {
        VStack {
            List(items) { _ in Text("Item") }
                .refreshable { await $items.refresh() }
                .overlay { if $items.isStale { Text("Data may be outdated") } }
            List(first) { _ in Text("Item") }
            List(local) { _ in Text("Item") }
            if $items.isLoading { ProgressView() }
            if let error = $items.error { Text(error.message) }
        }
    }
}

struct ItemsApp<Item: RegisteredEntity & Identifiable>: View {
    let container: PersistenceContainer
    let fetch: @Sendable () async throws -> [Item]

    var body: some View {
        ItemList<Item>()
            .databaseContainer(container)
            .enableQueryCoordination(container: container)
            .querySources(ItemSources(fetch: fetch))
    }
}
