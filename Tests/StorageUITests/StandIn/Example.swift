import StorageKit
import StorageUI
import SwiftUI

// What users of StorageUI write, apart from an entity of their own.

struct Players<Player: RegisteredEntity & Identifiable>: View {
    @QuerySubscribe<Player> var players: [Player]
    @PaginatedSubscribe<Player> var pages: [Player]
    @SearchSubscribe<Player> var found: [Player]

    init(_ storage: Storage, best: StorageKit.Query<Player>) {
        _players = QuerySubscribe(best)
        _found = SearchSubscribe(repository: storage.anyRepository(Player.self), searchFields: ["name"])
        _pages = PaginatedSubscribe(
            repository: storage.anyRepository(Player.self), pageSize: 50, style: .scrolling)
    }

    var body: some View {
        VStack {
            List(players) { _ in Text("Player") }
                .withSubscriptionLoading($players)
                .withSubscriptionError($players) { Task { await $players.refresh() } }
                .withRefreshable($players)
            List {
                ForEach(pages) { _ in
                    Text("Player").onAppear { _ = $pages.item(at: 0) }
                }
            }
            List(found) { _ in Text("Player") }.searchable(text: $found.text)
            Button("Next") { Task { await $pages.goToNextPage() } }.disabled(!$pages.hasNextPage)
        }
        .withSubscriptionError(
            CombinedSubscription {
                $players
                $pages
                $found
            })
    }
}

struct Parent<Player: RegisteredEntity & Identifiable>: View {
    let storage: Storage
    let tenant: String

    var body: some View {
        Players(storage, best: storage.query(Player.self).limit(10)).id(tenant)
    }
}
