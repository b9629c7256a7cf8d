import StorageUI
import SwiftUI

// The examples in the comments of StorageUI, which `DocumentationTests` compares with this file. It is type-checked and never run.

@StorageEntity
struct User: Identifiable {
    var id: String
    var name: String
    var isActive: Bool
}

@StorageEntity
struct Post: Identifiable {
    var id: Int
    var title: String
    var createdAt: Date
}

@StorageEntity
struct Chore: Identifiable {
    var id: Int
    var title: String
}

struct ChoreSources: QuerySourceProvider {
    var all: QuerySource<Chore> { QuerySource(Chore.all()) }

    static var querySourceNames: [PartialKeyPath<ChoreSources>: String] { [\ChoreSources.all: "all"] }
}

/// The store of the app.
nonisolated let storage: Storage = { fatalError("This file is never run.") }()
nonisolated let users = storage.repository(User.self)

struct PostList: View {
    @PaginatedSubscribe(storage.query(Post.self).orderBy(\.createdAt, .descending), pageSize: 50) var posts

    var body: some View {
        Button("Next") { Task { await $posts.goToNextPage() } }.disabled(!$posts.hasNextPage)
    }
}

struct ChoreList: View {
    @Query(\ChoreSources.all) var chores: [Chore]

    var body: some View {
        List(chores) { Text($0.title) }
            .refreshable { await $chores.refresh() }
            .overlay { if $chores.isStale { Text("May be out of date") } }
    }
}

struct UserList: View {
    @QuerySubscribe(storage.query(User.self).where { $0.isActive == true }.orderBy(\.name)) var users

    var body: some View {
        List(users) { Text($0.name) }.withSubscriptionError($users)
    }
}

struct UserSearch: View {
    @SearchSubscribe(repository: users, searchFields: ["name", "email"]) var found

    var body: some View {
        List(found) { Text($0.name) }.searchable(text: $found.text)
    }
}
