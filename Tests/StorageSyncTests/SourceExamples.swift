import Foundation
import StorageEntities
import StorageSync
import StorageTesting
import Testing

/// The examples of the guide, compiled and run.
@MainActor @Suite struct SourceExamples {
    @Test("The guide works")
    func guideExample() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("books.sqlite")
        let api = Shelves()

        let container = try PersistenceContainer.file(at: url) { $0.autoSchema(BookRecord.self) }
        let books = container.results(of: BookSources(api: api).source(\.all))
        await books.refresh()
        print(books.items.count, books.isStale, books.lastRefreshTime ?? .distantPast)
        #expect(books.items.map(\.title) == ["Emma", "Odes", "Ulysses"])
        container.credentialsChanged()
        #expect(!books.isLoading)

        let poetry = try BookSources(api: api).source(\.byShelf, "poetry")
        #expect(try await container.fetch(poetry).map(\.title) == ["Odes"])

        let paged = QuerySource(Book.all(), name: "books").remote(
            QueryRefreshAction(merge: .replace) { fetch in
                let page = try await api.page(after: fetch.cursor)
                return .rows(page.books, next: page.cursor)
            })
        try await container.refresh(paged)
        #expect(books.items.count == 3)
        let names = try await container.storage.querySourceStatuses().map { "\($0.source) \($0.parameter)" }
        #expect(names == ["BookSources.all ", "BookSources.byShelf \"poetry\"", "books "])
        try await container.storage.close()
    }
}

@StorageEntity
struct Book {
    var id: Int
    var title: String
    var shelf: String
}

protocol BooksAPI: Sendable {
    func books() async throws -> [Book]
    func books(onShelf shelf: String) async throws -> [Book]
}

private struct Shelves: BooksAPI {
    let all = [
        Book(id: 1, title: "Emma", shelf: "novels"), Book(id: 2, title: "Odes", shelf: "poetry"),
        Book(id: 3, title: "Ulysses", shelf: "novels"),
    ]

    func books() async throws -> [Book] { all }
    func books(onShelf shelf: String) async throws -> [Book] { all.filter { $0.shelf == shelf } }

    func page(after cursor: String?) async throws -> (books: [Book], cursor: String?) {
        let start = cursor.flatMap { Int($0) } ?? 0
        return ([all[start]], start + 1 < all.count ? "\(start + 1)" : nil)
    }
}

@QuerySources
struct BookSources {
    let api: any BooksAPI

    var all: QuerySource<Book> {
        QuerySource(Book.all().order(by: .title))
            .remote { try await api.books() }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
    }

    var byShelf: (String) -> QuerySource<Book> {
        { shelf in
            QuerySource(Book.all().filter(Book.Columns.shelf == shelf))
                .remote { [api] in try await api.books(onShelf: shelf) }
                .cache(.cacheFirst(ttl: .hours(1)))
        }
    }
}
