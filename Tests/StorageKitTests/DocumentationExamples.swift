import Foundation
import GRDB
import ServiceLifecycle
import StorageEntities
import StorageHistory
import StorageKit
import StorageLifecycle
import StorageMaintenance
import StorageProjections
import StorageViews
import TestSupport
import Testing
import UnixSignals

// The examples of README and of the DocC pages, compiled. `DocumentationTests` holds the pages to this file.

enum ReadmeExample {
    @StorageEntity
    struct User {
        var id: String
        var name: String
    }

    static func run(_ url: URL) async throws {
        let storage = try StorageKit.start(at: url) { $0.autoSchema(UserRecord.self) }.facade
        try await storage.save(User(id: "1", name: "Anna"))
        try await storage.write(actor: "ben", reason: "typo") { tx in
            try tx.save(User(id: "1", name: "Anne"))
        }
        for version in try await storage.history(User.self, id: "1") {
            print(version.operation, try version.entity?.name ?? "deleted", version.commit.metadata.actor ?? "-")
        }
        let history = try await storage.history(User.self, id: "1")
        _ = history
        try await storage.close()
    }
}

enum TourExample {
    struct Address: Embeddable {
        var street: String
        var city: String
    }

    @StorageEntity
    struct Writer {
        var id: String
        var name: String
        var age: Int = 0
        @StorageEmbedded(prefix: "home_") var home: Address
        @StorageJSON var settings: [String: Int]
        @StorageHasMany(foreignKey: "writerId") var articles: [Essay]
    }

    @StorageEntity
    struct Essay {
        var id: Int
        var title: String
        var text: String
        var writerId: String
        @StorageBelongsTo(onDelete: .cascade) var writer: Writer?
    }

    @StorageEntity(table: "places")
    struct Place {
        var id: Int
        var name: String
    }

    static func run(_ url: URL) async throws {
        let context = try StorageKit.start(at: url, cacheTTL: .minutes(10), diskQuota: .megabytes(50)) { schema in
            schema.addKVCache()
            schema.autoSchema(WriterRecord.self, EssayRecord.self)
            schema.addFullTextSearch(table: "essays", columns: ["title", "text"])
            schema.migration("2026-01-15_indexes") { db in
                try db.create(index: "essays_writer", on: "essays", columns: ["writerId"])
            }
            schema.migration("2026-02-01_places") { db in
                try db.execute(sql: "CREATE TABLE places(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL)")
            }
            schema.adopt("places")
            schema.autoSchema(PlaceRecord.self)
        }
        let storage = context.facade
        let adults = try await storage.query(Writer.self)
            .where { $0.age >= 18 && $0.home.city == "Kyiv" }
            .orderBy(\.name)
            .limit(20)
            .fetch()
        let first = try await storage.query(Essay.self).orderBy(\.title).page(size: 50)
        let second = try await storage.query(Essay.self).orderBy(\.title).page(after: first.next, size: 50)
        try await storage.query(Writer.self).where { $0.name.hasPrefix("x") }.updateAll { $0.age.set(to: 1) }
        let essays = try await storage.loadChildren(of: adults, \.articles)
        for result in try await storage.search(Essay.self, query: "swift concur*", excerpt: .snippet(column: "text")) {
            print(result.entity.title, result.rank, result.snippet ?? "")
        }
        _ = (second, essays)
        let address = Address(street: "Main 1", city: "Kyiv")
        let writers = ["1", "2"].map { Writer(id: $0, name: "w", home: address, settings: [:], articles: []) }
        try await storage.save(writers)
        try await storage.save(Essay(id: 1, title: "t", text: "x", writerId: "2"))
        let (writer, theirEssays) = try await storage.readTransaction { tx in
            (try tx.get(Writer.self, id: "1"), try tx.query(Essay.self).where { $0.writerId == "1" }.fetch())
        }
        if let (essay, position) = try await storage.getWithPosition(Essay.self, id: 1) {
            try await storage.save(essay, expecting: .position(position))
        }
        _ = (writer, theirEssays)
        let (moved, receipt) = try await storage.write(actor: "ben", reason: "merge") { tx in
            try tx.query(Essay.self).where { $0.writerId == "2" }.updateAll { $0.writerId.set(to: "1") }
        }
        print(moved, receipt.date.formatted())
        let before = try await storage.asOf(.position(receipt.first - 1))
        let old = try await before.all(Essay.self)
        let theirs = try await before.query(Essay.self).where { $0.writerId == "2" }.count()
        _ = (old, theirs)
        for version in try await storage.history(Essay.self, id: 1) {
            print(version.commit.date, version.operation, try version.entity?.title ?? "deleted")
        }
        for try await change in storage.diff(Essay.self, from: .position(receipt.first - 1)) {
            print(change.old?.writerId ?? "new", change.new?.writerId ?? "gone")
        }
        for cell in try await storage.blame(Essay.self, id: 1) ?? [] {
            print(cell.field.column, cell.commit.metadata.actor ?? "-", cell.commit.metadata.reason ?? "")
        }
        let plan = try await storage.revert(receipt.commit ?? 0, onConflict: .skip, isDryRun: true)
        print(plan.outcome.count, plan.outcome.conflicts)
        let page = try await storage.changes(since: .position(0), limit: 100)
        _ = try await storage.query(Essay.self).updateAll { $0.title.set(to: "u") }
        for try await change in storage.changes(since: page.next, matching: LogQuery(tables: ["essays"])) {
            print(change.commit.metadata.actor ?? "-", change.events.count, change.token.text)
            break
        }
        let report = try await storage.undo(actor: "anna", reason: "wrong merge")
        try await storage.redo()
        try await storage.restore(Essay.self, id: 1, to: .position(receipt.first - 1))
        print(report.outcome.updated, report.outcome.conflicts)
        try await storage.tag("before-merge", at: .position(receipt.first - 1), note: "as Anna left it")
        try await storage.note("merged twice by mistake", at: .position(receipt.last), actor: "ben")
        for try await change in storage.diff(from: .tag("before-merge")) { print(change.table, change.operation) }
        let tags = try await storage.tags()
        _ = tags
        let folder = url.deletingLastPathComponent()
        let backup = try await storage.backup(to: folder.appending(path: "monday.sqlite"))
        print(backup.position)
        try await storage.close()
    }

    static func declare(_ schema: inout Schema) {
        schema.renameColumn("mail", to: "email", in: "users")
        schema.convertColumn("age", of: "users", to: Int.self) { old in
            guard case .text(let text) = old, let age = Int64(text) else { return 0 }
            return .integer(age)
        }
        schema.dropColumn("fax", from: "users")
    }
}

enum ProjectionExample {
    @StorageEntity
    struct Order {
        var id: Int
        var customer: String
        var cents: Int
    }

    struct OrderTotals: Projection {
        let name = "order_totals"
        let version = 1
        let entities = ["orders"]

        func prepare(_ db: Database) throws {
            try db.execute(
                sql: """
                    CREATE TABLE order_totals(
                      customer TEXT PRIMARY KEY, orders INTEGER NOT NULL, cents INTEGER NOT NULL)
                    """)
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for change in try batch.changes(of: Order.self) {
                if let old = change.old { try add(orders: -1, cents: -old.cents, to: old.customer, in: db) }
                if let new = change.new { try add(orders: 1, cents: new.cents, to: new.customer, in: db) }
            }
        }

        private func add(orders: Int, cents: Int, to customer: String, in db: Database) throws {
            try db.execute(
                sql: """
                    INSERT INTO order_totals VALUES (?1, ?2, ?3)
                    ON CONFLICT(customer) DO UPDATE SET orders = orders + ?2, cents = cents + ?3
                    """,
                arguments: [customer, orders, cents])
            try db.execute(sql: "DELETE FROM order_totals WHERE customer = ? AND orders = 0", arguments: [customer])
        }
    }

    /// The next version, which happens to do the same.
    struct SecondOrderTotals: Projection {
        let name = "order_totals"
        let version = 2
        let entities = ["orders"]

        func prepare(_ db: Database) throws { try OrderTotals().prepare(db) }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws { try OrderTotals().apply(batch, db) }
    }

    static func run(_ url: URL) async throws {
        let totals = try SQLProjection(
            name: "cents_by_customer",
            sql: """
                CREATE TABLE cents_by_customer(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL);
                -- on insert, update of orders
                INSERT INTO cents_by_customer VALUES (:new_customer, :new_cents)
                  ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
                -- on update, delete of orders
                UPDATE cents_by_customer SET cents = cents - :old_cents WHERE customer = :old_customer;
                """)
        let storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(OrderRecord.self)
            schema.addProjection(OrderTotals(), mode: .async, onFailure: .retry(3))
            schema.addProjection(totals, mode: .inline)
        }.facade
        let receipt = try await storage.save(Order(id: 1, customer: "anna", cents: 500))
        try await storage.waitForProjections(through: receipt)
        let cents = try await storage.read { db in
            try Int.fetchOne(db, sql: "SELECT cents FROM order_totals WHERE customer = ?", arguments: ["anna"])
        }
        for projection in try await storage.projections.status() {
            print(projection.name, projection.state, projection.lag, projection.deadLetters)
        }
        try await storage.projections.reset("order_totals")
        let comparison = try await storage.compareReplay(old: OrderTotals(), new: SecondOrderTotals())
        if let divergence = comparison.divergence {
            print("from @\(divergence.position) on; \(comparison.differingRows) rows differ in the end")
        }
        _ = cents
        try await serve(storage)
    }

    private static func serve(_ storage: Storage) async throws {
        let server = ClosureService { try await storage.save(Order(id: 2, customer: "ben", cents: 1)) }
        let group = ServiceGroup(services: [StorageService(storage), server], gracefulShutdownSignals: [.sigterm])
        // The server is done at once, which the group takes for a failure, and ends everybody.
        await #expect(throws: ServiceGroupError.self) {
            try await group.run()
        }
    }
}

@StorageEntity
struct Chore: Codable, Identifiable, Equatable {
    var id: Int
    var title: String
    var isDone: Bool
}

/// The examples of the page about live views.
@MainActor enum LiveExample {
    /// What the search has found last.
    private static var results: [Chore] = []

    static func run(_ url: URL) async throws {
        let context = try StorageKit.start(at: url) { $0.autoSchema(ChoreRecord.self) }
        let storage = context.facade
        for id in 0..<5 {
            try await storage.save(Chore(id: id, title: "wash \(id)", isDone: false))
        }
        try await lists(storage)
        try await elsewhere(storage)
        try await sql(context)
        try await pages(storage)
        let searching = Task { await searches(storage) }
        // The example ends with the store only.
        try await eventually { results.count == 5 }
        try await work(storage)
        try await films(storage)
        try await storage.close()
        await searching.value
        #expect(results.count == 5)
    }

    private static func lists(_ storage: Storage) async throws {
        var rows: [Chore] = []
        let firstOpen = storage.query(Chore.self).where { $0.isDone == false }.orderBy(\.title).limit(20)
        let tasks = QuerySubscription(firstOpen, start: .immediate)
        print(tasks.items)
        for await difference in tasks.differences {
            difference.apply(to: &rows)
            if rows.count == 5 { break }
        }
    }

    private nonisolated static func elsewhere(_ storage: Storage) async throws {
        var (rows, results, position) = ([Chore](), [Chore](), Int64(0))
        let open = storage.query(Chore.self).where { $0.isDone == false }.orderBy(\.title).limit(20).live()
        for try await chores in open.snapshots {
            results = chores
            break
        }
        for try await difference in open.differences {
            let data = try JSONEncoder().encode(difference)
            let received = try JSONDecoder().decode(ListDifference<Chore>.self, from: data)
            if received.fits(rows) { received.apply(to: &rows) }
            position = difference.position
            break
        }
        try await storage.save(Chore(id: 4, title: "wash it", isDone: false))
        for try await difference in open.differences(since: position) {
            difference.apply(to: &rows)
            break
        }
        try await storage.save(Chore(id: 5, title: "wind it up", isDone: false))
        for try await difference in open.differences(from: rows) {
            difference.apply(to: &rows)
            break
        }
        #expect(results.count == 5)
        #expect(rows.map(\.title).suffix(2) == ["wash it", "wind it up"])
        try await optimistic(storage, open)
    }

    private struct Server {
        func accept(_ chore: Chore) async throws -> Chore { chore }
    }

    private nonisolated static func optimistic(_ storage: Storage, _ open: LiveList<Chore>) async throws {
        for try await chores in open.optimistic {
            for chore in chores.value { print(chore.title, chores.isPending(chore) ? "(saving)" : "") }
            break
        }
        let (chore, server) = (Chore(id: 5, title: "wash up", isDone: false), Server())
        try await storage.optimistically([.save(chore), .delete(Chore.self, id: 9)], reason: "Replace")
        try await storage.optimistically([.save(chore)]) {
            let accepted = try await server.accept(chore)
            try await storage.save(accepted)
        }
        #expect(try await storage.get(Chore.self, id: 5)?.title == "wash up")
        try await storage.delete(Chore.self, id: 5)
    }

    private nonisolated static func sql(_ context: StorageKit.Context) async throws {
        let titles = context.storage.dbActor.stream { db in
            try String.fetchAll(db, sql: "SELECT title FROM chores WHERE NOT isDone")
        }
        for await open in titles {
            print(open)
            break
        }
        let storage = context.facade
        let count = storage.liveValue { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM chores WHERE isDone = ?", arguments: [false]) ?? 0
        }
        print(try await count.explain()?.rowCondition ?? "every row")
        #expect(try await count.explain()?.rowCondition == "isDone = 0")
    }

    private static func pages(_ storage: Storage) async throws {
        let page = PaginatedQuerySubscription(storage.query(Chore.self).orderBy(\.title), pageSize: 2)
        await page.goToNextPage()
        print(page.currentPage, page.currentPageIndex, page.totalPages)
        #expect(page.currentPage.map(\.id) == [2, 3])
    }

    private static func searches(_ storage: Storage) async {
        let search = SearchSubscription(
            storage.query(Chore.self), configuration: .init(searchFields: ["title"], debounceInterval: 0.05))
        search.searchText = "wash"
        for await found in search.snapshots { results = found }
    }

    private static func work(_ storage: Storage) async throws {
        let before = await storage.subscriptionWork
        try await storage.save(Chore(id: 1, title: "wash 1", isDone: true))
        let after = await storage.subscriptionWork
        print(after.steps - before.steps, after.duration - before.duration)
    }

    private static func films(_ storage: Storage) async throws {
        let timeline = try await storage.timeline(from: .commit(1))
        let then = QuerySubscription(timeline.query(Chore.self), start: .immediate)
        while let commit = try await timeline.stepForward() { print(commit.number, then.items) }
        #expect(then.items.count == 5)
    }
}
