import Foundation
import GRDB
import ServiceLifecycle
import StorageCore
import StorageEntities
import StorageHistory
import StorageKit
import StorageLifecycle
import StorageLog
import StorageProjections
import StorageTesting
import Testing
import UnixSignals

/// The examples in the comments of the modules below `StorageKit`, and of those beside it, compiled and not run.
enum ModuleCommentExamples {
    private typealias User = CommentExamples.User

    @StorageEntity
    struct Author {
        var id: String
        var name: String
        var country: String
        @StorageHasMany(foreignKey: "authorId") var books: [Book]
    }

    @StorageEntity
    struct Book {
        var id: Int
        var authorId: String
        var year: Int
        @StorageBelongsTo var author: Author?
        @StorageHasMany(foreignKey: "bookId") var chapters: [Chapter]
    }

    @StorageEntity
    struct Chapter {
        var id: Int
        var bookId: Int
        var pages: Int
    }

    @StorageEntity
    struct Task {
        var id: Int
        var title: String
        var isCompleted: Bool
        var createdAt: Date
    }

    enum Embedding {
        struct Address: Embeddable {
            var street: String
            var city: String
        }

        @StorageEntity
        struct User {
            var id: String
            @StorageEmbedded(prefix: "home_") var home: Address
        }
    }

    private static func core(_ storage: Storage, user: User, url: URL) async throws {
        do {
            try await storage.save(user)
        } catch let error as StorageError where error.code == .busy {
            print(error.remedy)
        }
        let shipped = try await storage.asOf(.tag("release-3"))
        let yesterday = try await storage.asOf(.time(Date(timeIntervalSinceNow: -86_400)))
        let before = try await storage.asOf(.before(.head, commits: 1))
        print(shipped, yesterday, before)
        do {
            let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
            let config = StorageConfig(durability: .normal, defaultTTL: .minutes(10), namespace: "myapp")
            print(reader, config)
        }
        do {
            struct StillClock: StorageClock {
                var now: Date
            }
            let config = StorageConfig(clock: StillClock(now: Date(timeIntervalSince1970: 0)))
            print(config)
        }
        let cache = MemoryCache<String, User>(capacity: 100, defaultTTL: 300, clock: SystemClock())
        await cache.set(user, for: "user-1")
        let cached = await cache.get("user-1")
        print(cached as Any)
        let config = StorageConfig(defaultTTL: .hours(1))
        await cache.set(user, for: "user-1", ttl: TTL(.milliseconds(500)))
        print(config)
    }

    static func json() -> JSONWriter {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("v")
        writer.integer(1)
        writer.endObject()
        writer.endLine()
        return writer
    }

    static func queries(_ storage: Storage) async throws {
        do {
            let authors = try await storage.query(Author.self)
                .include(\.books) { $0.where { $0.year >= 1900 }.orderBy(\.year, .descending).limit(3) }
                .fetch()
            print(authors[0].books)
        }
        do {
            let books = try await storage.query(Book.self).include(\.author).fetch()
            print(books)
        }
        let authors = try await storage.query(Author.self).has(\.books) { $0.year >= 2000 }.fetch()
        let long =
            storage.query(Author.self).has(\.books, matching: Book.all().has(\.chapters) { $0.pages > 100 })
        let books = try await storage.query(Book.self).has(\.author) { $0.country == "UA" }.fetch()
        print(authors, long, books)
        let open =
            Task.all().filter(Task.Columns.isCompleted == true)
        let few =
            Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
        let request = Task.all().filter(Task.Columns.isCompleted == true).order(by: .createdAt).limit(10)
        var query = storage.query(Task.self)
        query.request = request
        let tasks = try await query.fetch()
        print(open, few, tasks)
    }

    private static func log(
        _ storage: Storage, user: User, yesterday: Date, today: Date, token: ChangeToken, file: URL
    ) async throws {
        do {
            let receipt = try await storage.save(user)
            print(receipt.position, receipt.date.formatted())
        }
        let query = LogQuery(tables: ["users"], actors: ["anna"], dates: yesterday...today)
        for try await event in storage.log.events(query) { print(event.position, event.operation) }
        for try await event in storage.log.events() where event.new?["status"] == "open" {
            print(event.position, event.old?["status"] ?? .null)
        }
        let page = try await storage.changes(since: token, limit: 100)
        try Data(page.next.text.utf8).write(to: file)
        let before = storage.counters
        try await importEverything()
        print(storage.counters.commits - before.commits)
    }

    private static func importEverything() async throws {}

    static func delete(_ db: Database, date: Date) throws {
        try db.execute(sql: "DELETE FROM posts WHERE createdAt = ?", arguments: [date.storageValue])
    }

    enum Projecting {
        typealias Order = ProjectionExample.Order

        struct OrderTotals: Projection {
            let name = "order_totals"
            let version = 1
            let entities = ["orders"]

            func prepare(_ db: Database) throws {
                try db.execute(sql: "CREATE TABLE order_totals(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL)")
            }

            func apply(_ batch: ProjectionBatch, _ db: Database) throws {
                for change in try batch.changes(of: Order.self) { print(change) }
            }
        }

        typealias OrderRecord = ProjectionExample.OrderRecord

        static func conform() async throws {
            let kit = ProjectionConformance(OrderTotals()) { schema in
                schema.autoSchema(OrderRecord.self)
            } history: { storage in
                try await storage.save(Order(id: 1, customer: "anna", cents: 500))
            }
            #expect(try await kit.run() == [])
        }
    }

    private static func hosts(_ storage: Storage, user: User, server: some Service) async throws {
        typealias UserRecord = CommentExamples.UserRecord
        let store = try TemporaryStore { $0.autoSchema(UserRecord.self) }
        try await store.storage.save(user)
        try await store.reopen()
        let group = ServiceGroup(
            services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm])
        try await group.run()
    }
}

private struct Money: Sendable {
    var cents: Int64
}

extension Money: StorageColumnValue {
    static var columnType: String { Int.columnType }
    var storageValue: StorageValue { .integer(cents) }
    init(storageValue: StorageValue) throws { cents = try Int64(storageValue: storageValue) }
}
