import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageHistory
import StorageKit
import StorageLog
import StorageMaintenance
import StorageProjections
import StorageRouting
import StorageTesting
import StorageViews
import Testing

/// The examples of the module's comments, compiled and not run. `DocumentationTests` compares them with this file.
enum CommentExamples {
    @StorageEntity
    struct User: Equatable {
        var id: String
        var name: String
        var age: Int?
        var email: String = ""
        var isActive: Bool = true
        var lastSeen: Date = Date()
        @StorageHasMany(foreignKey: "authorId") var posts: [Post] = []
    }

    @StorageEntity
    struct Post: Equatable {
        var id: Int
        var title: String
        var authorId: String
        var createdAt: Date
    }

    @StorageEntity
    struct Author {
        var id: String
        var name: String
        @StorageHasMany(foreignKey: "authorId") var books: [Book]
    }

    @StorageEntity
    struct Book {
        var id: Int
        var authorId: String
        var year: Int
        var pages: Int
        @StorageHasMany(foreignKey: "bookId") var chapters: [Chapter] = []
    }

    @StorageEntity
    struct Chapter {
        var id: Int
        var pages: Int
        var bookId: Int
    }

    @StorageEntity
    struct Article {
        var id: Int
        var title: String
        var content: String
    }

    @StorageEntity
    struct Task {
        var id: Int
        var title: String
        var isDone: Bool
        var due: Date
    }

    @StorageEntity
    struct Order {
        var id: Int
        var customerId: String
        var status: String
        var total: Double
        var productId: Int
        @StorageBelongsTo(onDelete: .cascade) var product: Product?
    }

    @StorageEntity
    struct Product {
        var id: Int
        var name: String
    }

    @StorageEntity
    struct Note: Identifiable, Equatable {
        var id: Int
        var text: String
    }

    @StorageEntity
    struct Place {
        var id: Int
        var name: String
    }

    private typealias OrderTotals = ProjectionExample.OrderTotals
    private typealias OrderTotals2 = ProjectionExample.SecondOrderTotals

    struct UserService {
        let users: AnyRepository<User>
    }

    /// Stands for a router of a web framework.
    struct Router {
        func get(_ path: String, _ body: @Sendable (Int, Int) async throws -> String) {}
    }

    static func show(_ user: User?) {}
    static func show(_ users: [User]) {}
    static func send(_ events: [StorageEvent]) async throws {}

    static func opening(_ url: URL, user: User, task: Task) async throws {
        let context = try StorageKit.start(at: url) { $0.autoSchema(UserRecord.self) }
        try await context.facade.save(user)
        let users = context.makeRepository(User.self)
        let rows = try await context.storage.pool.read { db in try UserRecord.fetchCount(db) }
        print(users, rows)
        print(try StorageKit.plan(at: url) { schema in schema.autoSchema(UserRecord.self) })
        do {
            let context = try StorageKit.start(fileName: "notes.sqlite") { schema in
                schema.addKVCache()
                schema.autoSchema(NoteRecord.self)
            }
            let count = try await context.storage.pool.read { db in try UserRecord.fetchCount(db) }
            print(count)
        }
        do {
            _ = try StorageKit.inMemory { schema in
                schema.autoSchema(User.self, Note.self)
            }
            let context = try StorageKit.start(at: url) { schema in
                schema.autoSchema(UserRecord.self)
            }
            let storage = context.facade
            try await storage.save(user)
        }
        do {
            let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
            let storage = try StorageKit.inMemory { $0.autoSchema(UserRecord.self) }.facade
            print(reader, storage)
        }
        let container = try PersistenceContainer.file(at: url) { $0.autoSchema(TaskRecord.self) }
        try await container.storage.save(task)
    }

    static func schema(_ schema: inout Schema, _ context: StorageKit.Context) throws {
        schema.migration("2026-02-01_places") { db in
            try db.execute(sql: "CREATE TABLE places(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL)")
        }
        schema.adopt("places")
        schema.autoSchema(PlaceRecord.self)
        schema.convertColumn("age", of: "users", to: Int.self) { old in
            guard case .text(let text) = old, let age = Int64(text) else { return .integer(0) }
            return .integer(age)
        }
        schema.dropColumn("nick", from: "users")
        schema.dropColumn("nick", from: "users", id: "2026-05-01_nick")
        schema.autoSchema(ArticleRecord.self)
        schema.addFullTextSearch(table: "articles", columns: ["title", "content"], tokenizer: "unicode61")
        schema.migration("2026-01-25_unique_email") { db in
            try db.create(index: "users_email", on: "users", columns: ["email"], unique: true)
        }
        schema.addProjection(OrderTotals(), mode: .async, onFailure: .retry(3))
        do {
            var schema = AppMigrations()
            schema.autoSchema(UserRecord.self)
            try schema.run(on: context.storage.pool)
        }
        do {
            let context = try StorageKit.start { schema in
                schema.renameColumn("mail", to: "email", in: "users")
                schema.autoSchema(UserRecord.self, PostRecord.self)
                schema.migration("2026-01-20_lower_case") { db in
                    try db.execute(sql: "UPDATE users SET email = lower(email)")
                }
            }
            print(context)
        }
    }

    static func writing(_ storage: Storage, user: User, kept: User, merged: User) async throws {
        do {
            let receipt = try await storage.save(User(id: "1", name: "Anna"))
            try await storage.save(user, expecting: .position(receipt.position))
        }
        do {
            let receipt = try await storage.write(actor: "anna", reason: "merge accounts") { tx in
                try tx.save(kept)
                try tx.delete(User.self, id: merged.id)
            }
            print(receipt)
        }
        do {
            let (count, receipt) = try await storage.write { tx in
                try tx.save(user)
                return try tx.count(User.self)
            }
            print(count, receipt)
        }
        try await CommitContext.$actor.withValue("anna") {
            try await storage.save(user)
        }
        let limit = Date()
        try await storage.write { tx in
            try tx.execute("DELETE FROM posts WHERE createdAt < ?", [limit])
            let posts = try tx.loadChildren(
                Post.self, where: "authorId", equals: user.id, orderBy: "createdAt", ascending: false)
            var user = user
            user.posts = try tx.loadChildren(of: user, \.posts)
            print(posts)
        }
        try await storage.query(User.self).where { $0.lastSeen < limit }.updateAll { $0.isActive.set(to: false) }
        try await storage.setWriteGuard(true)
    }

    static func reading(_ storage: Storage) async throws {
        let adults = try await storage.query(User.self)
            .where { $0.age >= 18 && $0.name.hasPrefix("A") }
            .orderBy(\.name)
            .limit(20)
            .fetch()
        let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
        let first = try await query.page(size: 50)
        let second = try await query.page(after: first.next, size: 50)
        let names = try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT DISTINCT name FROM users")
        }
        let (user, posts) = try await storage.readTransaction { tx in
            (try tx.get(User.self, id: "1"), try tx.query(Post.self).where { $0.authorId == "1" }.fetch())
        }
        let users = try await storage.all(User.self, orderBy: \.name)
        let count = try await storage.deleteAll(User.self, where: \.name, equals: "Anna")
        let page = try await storage.page(User.self, orderBy: "name", limit: 20, offset: 40)
        print(adults, second, names, user as Any, posts, users, count, page)
        let position = try await storage.position(of: User.self, id: "1")
        if let (found, position) = try await storage.getWithPosition(User.self, id: "1") {
            var user = found
            user.name = "Anna"
            try await storage.save(user, expecting: .position(position))
        }
        print(position as Any)
        for migration in try await storage.appliedMigrations() {
            print(migration.date.formatted(), migration.id)
        }
    }

    static func repositories(_ storage: Storage) async throws {
        let users = storage.repository(User.self)
        let anna = try await users.get(id: "1")
        let page = try await users.getPage(orderBy: "name", limit: 20, offset: 40)
        let service = UserService(users: storage.anyRepository(User.self))
        print(anna as Any, page, service)
    }

    static func relationships(_ storage: Storage, user: User) async throws {
        var user = user
        let posts = try await storage.loadChildren(
            Post.self, where: "authorId", equals: user.id, orderBy: "createdAt", ascending: false)
        user.posts = try await storage.loadChildren(of: user, \.posts)
        let authors = try await storage.query(Author.self).orderBy(\.name)
            .fetch(aggregating: \.books, .count, .max(\.year)) { $0.year >= 1900 }
        print(authors[0].entity.name, authors[0].value)
        print(posts)
        let long = try await storage.query(Author.self)
            .fetch(aggregating: \.books, .count, matching: Book.all().has(\.chapters) { $0.pages > 100 })
        print(long)
    }

    static func searching(_ storage: Storage) async throws {
        let index = try await storage.fullTextTable(of: Article.self)
        let titles = try await storage.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT title FROM articles JOIN "\(index)" ON "\(index)".rowid = articles.rowid
                    WHERE "\(index)" MATCH ?
                    """, arguments: ["swift NEAR concurrency"])
        }
        for result in try await storage.search(Article.self, query: "swift concur*") {
            print(result.entity.title, result.rank)
        }
        for result in try await storage.searchWithSnippets(Article.self, query: "swift", snippetColumn: 1) {
            print(result.entity.title, result.snippet ?? "")
        }
        let count = try await storage.searchCount(Article.self, query: "swift concur*")
        let before = try await storage.asOf(.commit(41))
        let found = try await before.search(Article.self, query: "swift")
        print(titles, count, found)
    }

    static func log(_ storage: Storage) async throws {
        for try await event in storage.log.events() {
            print(event.position, event.operation, event.table)
        }
        var query = LogQuery(tables: ["orders"])
        query.descending = true
        for try await commit in storage.log.commits(query).prefix(20) {
            print(commit.number, commit.metadata.actor ?? "", commit.changes["orders"]?.total ?? 0)
        }
        let commit = try await storage.log.commit(at: .tag("release-3"))
        print(commit.time, commit.metadata.reason ?? "", commit.positions)
        let position = try await storage.log.position(of: .time(Date(timeIntervalSinceNow: -3_600)))
        print(position)
    }

    static func following(_ storage: Storage, user: User) async throws {
        for try await change in storage.changes(since: .head) {
            print(change.commit.metadata.actor ?? "", change.events.count)
        }
        let receipt = try await storage.save(user)
        let token = try await storage.changeToken(at: receipt.position)
        try await resume(storage, after: token)
        let page = try await storage.changes(since: .position(0), limit: 100)
        let rest = try await storage.changes(since: page.next, limit: 100)
        print(rest)
    }

    private static func resume(_ storage: Storage, after token: ChangeToken) async throws {
        var token = token
        for try await change in storage.changes(since: token) {
            try await send(change.events)
            token = change.token
        }
    }

    static func tagging(_ storage: Storage) async throws {
        try await storage.tag("release-3", note: "as shipped")
        let shipped = try await storage.asOf(.tag("release-3"))
        for tag in try await storage.tags() { print(tag.name, tag.position) }
        try await storage.removeTag("release-3", reason: "never shipped")
        for event in try await storage.history(ofTag: "release-3") { print(event.operation, event.position) }
        try await storage.note("imported twice by mistake", at: .commit(77))
        for note in try await storage.notes() { print(note.position, note.text) }
        try await storage.removeNote(at: .commit(77))
        print(shipped)
    }

    static func past(_ storage: Storage) async throws {
        for version in try await storage.history(User.self, id: "42") {
            print(version.commit.metadata.actor ?? "", version.operation, try version.entity?.name ?? "deleted")
        }
        for cell in try await storage.blame(User.self, id: "42") ?? [] {
            print(cell.field.column, cell.field.value, cell.commit.metadata.actor ?? "")
        }
        for try await change in storage.diff(from: .commit(12)) {
            print(change.operation, change.table, change.new ?? [])
        }
        let report = try await storage.revert(77, onConflict: .skip, reason: "wrong import")
        print(report.outcome.count, report.outcome.conflicts)
        let before = try await storage.asOf(.commit(41))
        let old = try await before.get(User.self, id: "1")
        let minors = try await before.query(User.self).where { $0.age < 18 }.count()
        let total = try await storage.asOf(.commit(41)).read(["orders"]) { db in
            try Double.fetchOne(db, sql: "SELECT sum(total) FROM orders") ?? 0
        }
        print(old as Any, minors, total)
    }

    static func maintenance(_ storage: Storage, folder: URL) async throws {
        do {
            let report = try await storage.verify()
            for finding in report.findings { print(finding.message) }
        }
        let report = try await storage.rebuild("users", options: RebuildOptions(compares: true)) { progress in
            print(progress.fraction)
        }
        for difference in report.differences { print(difference) }
        try await storage.abandonRebuild()
        try await storage.seal()
        let backup = try await storage.backup(to: folder.appending(path: "monday.sqlite"))
        print(backup.position)
        let router = Router()
        router.get("/metrics") { _, _ in try await storage.prometheusMetrics() }
    }

    static func signals(_ storage: Storage) {
        do {
            let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
                print("slow commit: \(commit.duration), \(commit.reason.rawValue)", commit.metadata.correlation ?? "")
            }
            print(observation)
        }
        let observation = storage.observeReads(longerThan: .milliseconds(100)) { read in
            print("slow read: \(read.duration), \(read.reason.rawValue)", read.statement ?? "")
        }
        print(observation)
    }

    static func projections(_ storage: Storage, order: Order) async throws {
        let comparison = try await storage.compareReplay(old: OrderTotals(), new: OrderTotals2())
        if let divergence = comparison.divergence {
            print("they differ from @\(divergence.position) on, in \(comparison.differingRows) rows in the end")
        }
        let receipt = try await storage.save(order)
        try await storage.waitForProjections(through: receipt)
        for projection in try await storage.projections.status() {
            print(projection.name, projection.state, projection.lag)
        }
        let report = try await storage.projections.rebuild(
            "order_totals", options: RebuildOptions(compares: true, swaps: false))
        for difference in report.differences { print(difference) }
    }

    private struct OrderServer {
        func place(_ order: Order) async throws -> Order { order }
    }

    static func optimistic(_ storage: Storage, task: Task, draft: Post, order: Order) async throws {
        let server = OrderServer()
        try await storage.optimistically([.save(task), .delete(draft)], reason: "Publish")
        try await storage.optimistically([.save(order)]) {
            let confirmed = try await server.place(order)
            try await storage.save(confirmed)
        }
    }

    static func scopes(_ storage: Storage, customer: User) async throws {
        let mine = storage.scoped { scope in
            scope.allow(Order.self) { $0.customerId == customer.id }
            scope.allow(Product.self)
        }
        for try await orders in mine.query(Order.self).include(\.product).live().snapshots { print(orders) }
        for try await change in mine.changes(since: .head) { try await send(change.events) }
    }

    static func live(_ storage: Storage, id: String) async throws {
        let open = storage.query(Task.self).where { $0.isDone == false }.orderBy(\.due).limit(20).live()
        for try await tasks in open.snapshots { print(tasks) }
        for try await authors in storage.query(Author.self).live(aggregating: \.books, .count).snapshots {
            print(authors)
        }
        for try await (count, sum) in storage.query(Order.self).liveAggregates(.count, .sum(\.total)).snapshots {
            print(count, sum)
        }
        for await event in try await storage.changeNotifier.events(for: User.self, filter: .rowIds([id])) {
            print(event)
        }
        for await user in storage.observe(User.self, id: "1") {
            show(user)
        }
        for await users in storage.observeAll(User.self, orderBy: "name") {
            show(users)
        }
        for await users in storage.observeAllDistinct(User.self, orderBy: "name") {
            show(users)
        }
        do {
            let open = storage.query(Order.self).where { $0.status == "open" }
            let events = try await storage.changeNotifier.events(for: Order.self, filter: .queryRelevant(open))
            print(events)
        }
    }

    static func sql(_ storage: Storage, db: DatabaseActor) async throws {
        struct Total: Decodable, FetchableRecord, Identifiable, Equatable { var id: String; var pages: Int }

        let totals = storage.live { db in
            try Total.fetchAll(
                db,
                sql: """
                    SELECT authors.id, sum(pages) AS pages FROM authors JOIN books ON authorId = authors.id
                    GROUP BY authors.id ORDER BY pages DESC
                    """)
        }
        for try await rows in totals.snapshots { print(rows) }
        let pages = storage.liveValue { try Int.fetchOne($0, sql: "SELECT sum(pages) FROM books") ?? 0 }
        print(pages)
        for await total in db.stream(tracking: { try Int.fetchOne($0, sql: "SELECT sum(amount) FROM payments") ?? 0 }) {
            print(total)
        }
    }

    @MainActor static func views(_ storage: Storage, reader: Storage, user: User, position: Int64) async throws {
        let adults = storage.query(User.self).where { $0.age >= 18 }
        let repository = storage.repository(User.self)
        let users = SubscriptionFactory.create(
            QuerySubscription<User>.self, repository: repository, query: adults, configuration: .background)
        let receipt = try await storage.save(user)
        await storage.waitForViews(through: receipt)
        #expect(users.items.contains(user))
        // The writer has sent the position of its receipt.
        try await reader.waitForViews(throughPosition: position)
        let yesterday = Date(timeIntervalSinceNow: -86_400)
        let timeline = try await storage.timeline(from: .time(yesterday))
        let page = PaginatedQuerySubscription(timeline.query(Post.self).orderBy(\.createdAt, .descending))
        while let commit = try await timeline.stepForward() {
            print(commit.time, page.currentPage.map(\.title))
        }
    }

    enum Declared {
        @StorageEntity
        struct User {
            var id: String
            var name: String
            var age: Int?
        }
    }
}
