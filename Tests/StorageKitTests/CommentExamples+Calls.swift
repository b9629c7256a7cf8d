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

/// The examples in the comments of calls of the facade and of the types that they take and return, compiled and not run.
enum CallCommentExamples {
    private typealias Article = CommentExamples.Article
    private typealias Author = CommentExamples.Author
    private typealias Book = CommentExamples.Book
    private typealias Order = CommentExamples.Order
    private typealias OrderTotals = ProjectionExample.OrderTotals
    private typealias OrderTotals2 = ProjectionExample.SecondOrderTotals
    private typealias Place = CommentExamples.Place
    private typealias Post = CommentExamples.Post
    private typealias Task = CommentExamples.Task
    private typealias User = CommentExamples.User
    private typealias UserRecord = CommentExamples.UserRecord

    private static func show(_ users: [User]) {}

    private static func reading(_ storage: Storage, book: Book, books: [Book]) async throws {
        do {
            func names(in store: some EntityReader) async throws -> [String] {
                try await store.all(User.self, orderBy: "name").map(\.name)
            }
            let current = try await names(in: storage)
            let released = try await names(in: storage.asOf(.tag("release-3")))
            print(current, released)
        }
        do {
            let released = try await storage.asOf(.tag("release-3"))
            let names = try await released.reading(["users"]) { db in
                try String.fetchAll(db, sql: "SELECT name FROM users ORDER BY name")
            }
            print(names)
        }
        do {
            let user = try await storage.get(User.self, id: "1")
            print(user as Any)
        }
        let isTaken = try await storage.exists(User.self, id: "1")
        print(isTaken)
        do {
            let page = try await storage.page(User.self, orderBy: "name", limit: 20)
            if page.hasMore {
                let next = try await storage.page(User.self, orderBy: "name", limit: 20, offset: page.nextOffset)
                show(next.items)
            }
        }
        do {
            let author = try await storage.loadParent(Author.self, id: book.authorId)
            print(author as Any)
        }
        do {
            let authors = try await storage.loadParents(Author.self, ids: books.map(\.authorId))
            for book in books { print(book.year, authors[book.authorId]?.name ?? "") }
        }
        do {
            let (count, first) = try await storage.readTransaction { tx in
                (try tx.count(User.self), try tx.query(User.self).orderBy(\.name).fetchOne())
            }
            print(count, first as Any)
        }
        do {
            let active = try await storage.readTransaction { tx in
                try tx.query(User.self).where { $0.isActive == true }.orderBy(\.name).fetch()
            }
            print(active)
        }
        try await storage.write { tx in
            let isTaken = try tx.exists(User.self, id: "1")
            let author = try tx.loadParent(Author.self, id: book.authorId)
            let authors = try tx.loadParents(Author.self, ids: books.map(\.authorId))
            for book in books { print(book.year, authors[book.authorId]?.name ?? "") }
            print(isTaken, author as Any)
            let hasPosts = try tx.query(Post.self).where { $0.authorId == "1" }.exists()
            print(hasPosts)
        }
    }

    private static func writing(_ storage: Storage, user: User, limit: Date) async throws {
        try await storage.write(reason: "rename") { tx in
            guard var user = try tx.get(User.self, id: "1") else { return }
            user.name = "Anna"
            try tx.save(user)
        }
        try await storage.write { tx in
            try tx.query(Post.self).where { $0.createdAt < limit }.deleteAll()
            try tx.query(User.self).where { $0.lastSeen < limit }.updateAll { $0.isActive.set(to: false) }
        }
        try await storage.query(User.self).where { $0.id == "1" }.updateAll { user in
            user.name.set(to: "Anna")
            user.age.set(to: nil)
        }
        do {
            if try await !storage.isWriteGuarded() { try await storage.setWriteGuard(true) }
        }
    }

    private static func queries(_ storage: Storage, now: Date, isShort: Bool) async throws {
        let hasPosts = try await storage.query(Post.self).where { $0.authorId == "1" }.exists()
        do {
            let query = storage.query(Post.self)
            let latest = try await query.reading { db in
                try Date.fetchOne(db, sql: "SELECT max(createdAt) FROM posts")
            }
            print(latest as Any)
        }
        do {
            func titles<Posts: FetchableQuery>(_ posts: Posts) async throws -> [String] where Posts.Entity == Post {
                try await posts.orderBy(\.createdAt).fetch().map(\.title)
            }
            let current = try await titles(storage.query(Post.self))
            let released = try await titles(storage.asOf(.tag("release-3")).query(Post.self))
            print(current, released)
        }
        do {
            let explanation = try await storage.query(Post.self).where { $0.authorId == "1" }.explain()
            if explanation.plan.contains(where: { $0.hasPrefix("SCAN") }) { print(explanation) }
        }
        do {
            var page = try await storage.query(User.self).orderBy(\.name).page(size: 50)
            show(page.items)
            while let next = page.next {
                page = try await storage.query(User.self).orderBy(\.name).page(after: next, size: 50)
                show(page.items)
            }
        }
        do {
            let query = storage.query(Post.self).orderBy(\.createdAt, .descending)
            let first = try await query.page(size: 50)
            let link = first.next?.text ?? ""
            let second = try await query.page(after: PageCursor(text: link), size: 50)
            print(second)
        }
        do {
            let next = try await storage.query(User.self).orderBy(\.name).limit(20).offset(40).fetch()
            print(next)
        }
        do {
            func latest<Query: EntityQuery<Post>>(_ query: Query) -> Query {
                query.orderBy(\.createdAt, .descending).limit(20)
            }
            let posts = try await latest(storage.query(Post.self)).fetch()
            print(posts)
        }
        do {
            func isRecent(_ post: ColumnRef<Post>) -> RowPredicate { post.createdAt > now && post.title != "" }
            let posts = try await storage.query(Post.self).where(isRecent).fetch()
            print(posts)
        }
        do {
            let isDue = RowPredicate.comparison(column: "due", .less, .value(now.storageValue))
            let isOpen = !RowPredicate.comparison(column: "isDone", .equal, .value(.integer(1)))
            let tasks = try await storage.query(Task.self).where(isDue && isOpen).fetch()
            print(tasks)
        }
        do {
            let tasks = try await storage.query(Task.self).where(.sql("length(title) < ?", .integer(20))).fetch()
            print(tasks)
        }
        do {
            let title = StorageColumn<String>("title")
            let tasks = try await storage.query(Task.self).where(title.hasPrefix("Call")).fetch()
            print(tasks)
        }
        do {
            let books = try await storage.query(Book.self).where { $0.year.between(1900...1999) }.fetch()
            let annas = try await storage.query(User.self).where { $0.name.collating(.noCase) == "anna" }.fetch()
            let local = try await storage.query(User.self).where { $0.email.hasSuffix("@example.com") }.fetch()
            let codes = try await storage.query(Article.self).where { $0.title.like("A\\_%", escape: "\\") }.fetch()
            print(books, annas, local, codes)
        }
        print(hasPosts)
    }

    private static func repositories(
        _ storage: Storage, users: AnyRepository<User>, anna: User, ben: User
    ) async throws {
        do {
            func rename(_ id: String, in users: some StorageRepository<User>) async throws {
                guard var user = try await users.get(id: id) else { return }
                user.name = "Anna"
                try await users.put(user)
            }
            try await rename("1", in: storage.repository(User.self))
        }
        do {
            let cached = try await users.get(id: "1", policy: .memoryOnly)
            let stored = try await users.get(id: "1", policy: .database)
            print(cached as Any, stored as Any)
        }
        try await users.putAll([anna, ben])
        let all = try await users.getAll(orderBy: "name")
        let active = try await users.getAll(where: "isActive", equals: true, orderBy: "name")
        let count = try await users.countAll()
        print(all, active, count)
    }

    @MainActor private static func subscriptions(
        _ users: AnyRepository<User>, articles: AnyRepository<Article>, orders: AnyRepository<Order>,
        tasks: AnyRepository<Task>
    ) async {
        let adults = users.subscribe(query: users.query().where { $0.age >= 18 }.orderBy(\.name))
        for await items in adults.snapshots { show(items) }
        let anna = users.subscribeSingle(query: users.query().where { $0.id == "1" })
        let pages = users.subscribePaginated(query: users.query().orderBy(\.name), pageSize: 50)
        await pages.goToNextPage()
        let open = tasks.subscribeCount(query: tasks.query().where { $0.isDone == false })
        print(open.count)
        do {
            let totals = orders.subscribeAggregate(.count, .sum(\.total))
            let (count, sum) = totals.value
            print(count, sum)
        }
        do {
            let totals = orders.subscribeAggregate(.count, .sum(\.total), groupedBy: \.status)
            for group in totals.groups { print(group.key, group.value.0, group.value.1) }
        }
        do {
            let byStatus = orders.subscribeGrouped(
                groupBy: \.status, configuration: .init(fixedGroups: ["open", "paid"], maxItemsPerGroup: 5))
            print(byStatus)
        }
        do {
            let byStatus = orders.subscribeGrouped(groupBy: \.status)
            for section in byStatus.sections { print(section.key, section.items.count, "of", section.count) }
        }
        do {
            let search = articles.subscribeSearch(configuration: .fullText())
            search.searchText = "swift concur"
        }
        let search = articles.subscribeSearch(searchFields: ["title", "content"])
        search.searchText = "swift"
        print(anna)
    }

    private static func live(_ storage: Storage) async throws {
        let newest = storage.query(Post.self).orderBy(\.createdAt, .descending).liveFirst()
        for try await post in newest.snapshots { print(post?.title ?? "none") }
        for try await count in storage.query(Task.self).where({ $0.isDone == false }).liveCount().snapshots {
            print(count)
        }
        do {
            let totals = storage.query(Order.self).liveAggregates(.count, .sum(\.total), groupedBy: \.status)
            for try await groups in totals.snapshots {
                for group in groups { print(group.key, group.value.0, group.value.1) }
            }
        }
        do {
            let orders = storage.query(Order.self).liveGroups(
                by: \.status, configuration: .init(sortGroupsBy: .count(ascending: false), maxItemsPerGroup: 5))
            print(orders)
        }
        for try await sections in storage.query(Order.self).liveGroups(by: \.status).snapshots {
            for section in sections { print(section.key, section.count) }
        }
        for try await results in storage.query(Article.self).liveSearch("swift concur").snapshots {
            for result in results { print(result.entity.title, result.rank) }
        }
        do {
            func follow(_ query: some SubscribableQuery<User>) async throws {
                for try await users in query.orderBy(\.name).live().snapshots { show(users) }
            }
            try await follow(storage.query(User.self))
            try await follow(storage.timeline(from: .tag("release-3")).query(User.self))
        }
    }

    private static func schema(_ schema: inout Schema) {
        schema.renameColumn("mail", to: "email", in: "users")
        schema.renameEntity("persons", to: "users")
        schema.autoSchema(UserRecord.self)
        schema.dropEntity("drafts")
        schema.dropFullTextSearch(table: "articles")
        schema.dropProjection("order_totals")
        schema.retire("2024-11-03_indexes", "rename users.mail to email")
        schema.setOptions(SchemaOptions(logger: { print($0) }))
        schema.addProjection(
            OrderTotals(), mode: .async, onFailure: .retry(3, delay: .seconds(1), then: .deadLetter),
            onReplayFailure: .pause)
    }

    private static func plans(_ url: URL) throws {
        let plan = try StorageKit.plan(at: url) { $0.autoSchema(UserRecord.self) }
        for step in plan.steps { print(step.title, step.changes) }
    }

    private static func maintenance(_ storage: Storage, folder: URL) async throws {
        try await storage.abandonRebuild()
        try await storage.seal()
        let backup = try await storage.backup(to: folder.appending(path: "sealed.sqlite"))
        print(backup)
        do {
            let backup = try await storage.backup(to: folder.appending(path: "monday.sqlite"))
            print(backup.path, backup.bytes, backup.date.formatted(), backup.isVerified)
        }
        do {
            let report = try await storage.verify()
            if !report.isSound { print(report.findings.map(\.message)) }
            for warning in report.warnings { print(warning.message) }
        }
        do {
            let report = try await storage.rebuild("users", options: RebuildOptions(compares: true, swaps: false))
            print(report.rows["users"] ?? 0, "rows,", report.differingRows, "differ")
            for difference in report.differences { print(difference.kind, difference.id, difference.column ?? "") }
        }
        try await storage.rebuild("users") { progress in
            print(progress.phase, progress.fraction, progress.remaining as Any)
        }
    }

    private static func projections(_ storage: Storage) async throws {
        try await storage.projections.pause("order_totals")
        try await storage.projections.resume("order_totals")
        for letter in try await storage.projections.deadLetters("order_totals") {
            print(letter.position, letter.event.table, letter.error)
        }
        let applied = try await storage.projections.replayDeadLetters("order_totals")
        let left = try await storage.projections.deadLetters("order_totals").count
        print(applied, left)
        for letter in try await storage.projections.deadLetters() {
            print(letter.projection, letter.event, "failed", letter.attempts, "times:", letter.error)
        }
        for projection in try await storage.projections.status() where projection.state == .failed {
            print(projection.name, projection.failedPosition ?? 0, projection.error ?? "")
        }
        let comparison = try await storage.compareReplay(old: OrderTotals(), new: OrderTotals2())
        if !comparison.isEqual {
            for difference in comparison.differences { print(difference) }
        }
    }

    private static func changes(of batch: ProjectionBatch) throws {
        do {
            for change in try batch.changes(of: Order.self) {
                print((change.new?.total ?? 0) - (change.old?.total ?? 0))
            }
        }
        for change in try batch.changes(of: "orders") {
            print(change.key, change.old?["status"] ?? .null, change.new?["status"] ?? .null)
        }
    }

    struct OrderMails: SideEffectingProjection {
        let name = "order_mails"
        let version = 1
        let entities = ["orders"]

        func prepare(_ db: Database) throws {}
        func apply(_ batch: ProjectionBatch, _ db: Database) throws {}

        func committed(_ events: [StorageEvent]) async {
            for event in events where event.operation == .insert { await sendMail(about: event.key) }
        }
    }

    private static func sendMail(about key: [StorageEvent.Field]) async {}

    private struct Weather: Codable, Sendable {
        var degrees: Double
    }

    private static func caches(_ context: StorageKit.Context, weather: Weather, url: URL) async throws {
        let storage = context.facade
        do {
            let cache = DiskCache<Weather>(db: context.storage.dbActor)
            await cache.set(weather, for: "weather-kyiv", ttl: TTL(.seconds(600)))
            let cached = await cache.get("weather-kyiv")
            print(cached as Any)
            await cache.remove("weather-kyiv")
            await cache.removeAll()
            await cache.pruneExpired()
        }
        do {
            let cache = MemoryCache<String, Weather>(capacity: 100, defaultTTL: 300, clock: SystemClock())
            await cache.remove("weather-kyiv")
            await cache.removeAll()
        }
        let keys = KeyBuilder(namespace: "myapp")
        let userKey = keys.entityKey(User.self, id: "1")
        let queryKey = keys.queryKey("search", params: ["text": "swift"])
        print(userKey, queryKey, storage)
        let context = try StorageKit.start(at: url, diskQuota: .megabytes(50)) { $0.addKVCache() }
        print(context)
        do {
            let pool = context.storage.pool
            try await pool.write { db in try db.execute(sql: "UPDATE users SET isActive = 0 WHERE lastSeen < '2026'") }
            let count = try await pool.read { db in try UserRecord.fetchCount(db) }
            print(count)
        }
        let db = context.storage.dbActor
        let names = try await db.read { db in try String.fetchAll(db, sql: "SELECT name FROM users") }
        print(names)
    }

    @MainActor private static func streams(_ db: DatabaseActor) async {
        for await count in db.streamOnMainActor(tracking: { try UserRecord.fetchCount($0) }) { print(count) }
        for await count in db.streamDistinctOnMainActor(tracking: { try UserRecord.fetchCount($0) }) { print(count) }
    }

    private static func scopes(_ storage: Storage, customer: User) async throws {
        func limit(_ scope: inout ScopeBuilder, to customer: User) {
            scope.allow(Order.self) { $0.customerId == customer.id }
            scope.allow(Book.self)
        }
        let mine = storage.scoped { scope in limit(&scope, to: customer) }
        let order = try await mine.get(Order.self, id: 7)
        let open = try await mine.query(Order.self).where { $0.status == "open" }.fetch()
        print(order as Any, open)
    }

    private static func log(_ storage: Storage) async throws {
        try await storage.log.forEachBatch(in: 1...1_000) { batch in
            print(batch.positions, batch.count)
            return true
        }
        for try await commit in storage.log.commits() {
            print(commit.number, commit.date.formatted(), commit.changes["orders"]?.insert ?? 0)
        }
        for try await event in storage.log.events(LogQuery(tables: ["users"])) where event.operation == .update {
            print(event.position, event.key["id"] ?? .null, event.old?["email"] ?? .null, event.new?["email"] ?? .null)
        }
        do {
            for try await change in storage.changes(since: .head) {
                print(change.commit.number, change.events.map(\.table), change.token)
            }
            var page = try await storage.changes(since: .position(0), limit: 100)
            print(page.events)
            while page.hasMore {
                page = try await storage.changes(since: page.next, limit: 100)
                print(page.events)
            }
        }
        for version in try await storage.history(User.self, id: "42") {
            print(version.commit.number, version.commit.date.formatted(), version.commit.metadata.reason ?? "")
        }
        try await storage.write(actor: "anna", reason: "import", attributes: ["file": "may.csv"]) { tx in
            try tx.execute("UPDATE users SET isActive = 1")
        }
        let commit = try await storage.log.commit(at: .head)
        print(commit.metadata.actor ?? "", commit.metadata.attributes["file"] ?? "")
        for cell in try await storage.blame(User.self, id: "42") ?? [] {
            print(cell.field.column, "since", cell.commit.date.formatted(), "by", cell.commit.metadata.actor ?? "")
        }
        for tag in try await storage.tags() { print(tag.name, tag.position) }
        for note in try await storage.notes() { print(note.position, note.text) }
        let events = try await storage.allEvents()
        assert(events.map(\.operation) == [.insert, .update])
    }

    private static func past(_ storage: Storage) async throws {
        let yesterday = try await storage.asOf(.time(Date(timeIntervalSinceNow: -86_400)))
        let user = try await yesterday.get(User.self, id: "1")
        let count = try await yesterday.query(Order.self).where { $0.status == "open" }.count()
        print(user as Any, count)
        do {
            let released = try await storage.asOf(.tag("release-3"))
            let users = try await released.query(User.self).where { $0.isActive == true }.orderBy(\.name).fetch()
            print(users)
        }
        do {
            let before = try await storage.asOf(.tag("release-3"), schema: .asRecorded)
            let nicks = try await before.read(["users"]) { db in
                try String.fetchAll(db, sql: "SELECT nick FROM users")  // a column that was dropped later
            }
            print(nicks)
        }
        do {
            for version in try await storage.history(User.self, id: "42") {
                print(version.operation, version.position, try version.entity?.name ?? "deleted")
            }
        }
        for try await change in storage.diff(User.self, from: .commit(12)) where change.operation == .update {
            print(change.old?.name ?? "", "is now", change.new?.name ?? "")
        }
        let differences = storage.diff(User.self, from: .tag("release-3"), to: .tag("release-4"))
        for try await change in differences { print(change) }
        do {
            let differences = storage.diff(from: .tag("release-3"), to: .tag("release-4"), tables: ["users"])
            for try await change in differences { print(change.operation, change.key) }
        }
        for try await change in storage.diff(from: .commit(12)) where change.operation == .delete {
            print(change.table, change.key["id"] ?? .null, change.old ?? [])
        }
        do {
            let report = try await storage.revert(77, onConflict: .overwrite, actor: "anna")
            print(report)
        }
        do {
            let report = try await storage.revert(77, isDryRun: true)
            for difference in report.plan { print(difference) }
        }
        do {
            let outcome = try await storage.undo(of: "anna").outcome
            print(outcome.inserted, outcome.updated, outcome.deleted)
        }
        do {
            let report = try await storage.revert(77, onConflict: .skip)
            for conflict in report.outcome.conflicts {
                print(conflict.table, conflict.key, conflict.column ?? "", conflict.reason)
            }
        }
    }

    private static func timelines(_ storage: Storage) async throws {
        let timeline = try await storage.timeline(from: .tag("release-3"))
        for try await users in timeline.query(User.self).orderBy(\.name).live().snapshots { show(users) }
        if let commit = try await timeline.stepBack() { print("before", commit.number) }
        try await timeline.move(to: .commit(41))
        try await timeline.play(.commitsPerSecond(10)) { commit in print(commit.date.formatted()) }
        await timeline.goLive()
        let shown = try await timeline.query(Post.self).orderBy(\.createdAt, .descending).limit(20).fetch()
        print(shown)
    }

    private static func searching(_ storage: Storage) async throws {
        for result in try await storage.search(Article.self, query: "swift", excerpt: .snippet()) {
            print(result.entity.title, result.rank, result.snippet ?? "")
        }
        do {
            let found = try await storage.search(
                Article.self, query: "swift", excerpt: .highlight(column: "title", start: "[", end: "]"))
            print(found)
        }
        let found = try await storage.search(Article.self, query: "swift NEAR concurrency", syntax: .fts5)
        print(found)
    }

    private static func signals(_ storage: Storage) async throws {
        let observation = storage.observeReads(longerThan: .seconds(1)) { print($0) }
        observation.cancel()
        do {
            let observation = storage.observeCommits(longerThan: .milliseconds(100)) { commit in
                print(commit.eventCount, commit.duration, "of it on disk:", commit.disk)
            }
            print(observation)
        }
        do {
            let observation = storage.observeReads(longerThan: .milliseconds(100)) { read in
                if read.reason == .fullScan { print(read.scannedRows, "rows scanned:", read.statement ?? "") }
            }
            print(observation)
        }
        let durations = storage.counters.commitDurations
        print(durations.count, durations.sum, durations.longest)
        for (bound, count) in zip(DurationHistogram.bounds, durations.cumulativeCounts) { print(bound, count) }
    }

    private static func optimistic(_ storage: Storage, task: Task) async throws {
        let changes: [OptimisticChange] = [.save(task), .delete(Post.self, id: 7)]
        try await storage.optimistically(changes, actor: "anna")
        for try await tasks in storage.query(Task.self).live().optimistic {
            for task in tasks.value { print(task.title, tasks.isPending(task) ? "saving" : "") }
        }
    }

    private static func differences(_ storage: Storage) async throws {
        for try await difference in storage.query(Task.self).orderBy(\.due).live().differences {
            for change in difference.changes {
                switch change {
                case .insert(let task, let index): print("insert", task.title, index)
                case .remove(let index): print("remove", index)
                case .update(let task, let index): print("update", task.title, index)
                case .move(let task, let from, let to): print("move", task.title, from, to)
                }
            }
        }
        for try await sections in storage.query(Order.self).liveGroups(by: \.status).snapshots {
            for section in sections { print(section.key, section.items.map(\.id), section.count) }
        }
        for try await difference in storage.query(Order.self).liveGroups(by: \.status).differences {
            for change in difference.changes {
                if case .insert(let order, let path) = change { print(order.id, path.section, path.row) }
            }
        }
        do {
            let rank = ["open": 0, "paid": 1, "sent": 2]
            let orders = storage.query(Order.self).liveGroups(
                by: \.status,
                configuration: .init(sortGroupsBy: .custom { rank[$0, default: 3] < rank[$1, default: 3] }))
            print(orders)
        }
        let catalogue = storage.query(Author.self).live(aggregating: \.books, .count, .max(\.year))
        for try await authors in catalogue.snapshots {
            for author in authors { print(author.entity.name, author.value.0, author.value.1 ?? 0) }
        }
        for try await difference in storage.query(Task.self).liveCount().differences {
            print(difference.new - (difference.old ?? 0), "since the last commit, at", difference.position)
        }
        let totals = storage.query(Order.self).liveAggregates(.sum(\.total), groupedBy: \.status)
        for try await groups in totals.snapshots {
            for group in groups { print(group.key, group.value) }
        }
    }

    private static func events(_ storage: Storage) async throws {
        for await event in try await storage.changeNotifier.events(for: User.self) {
            switch event {
            case .inserted(_, let id, let row, _): print("new", id, row["name"] ?? .null)
            case .updated(_, let id, let changes, _): print("changed", id, changes.keys)
            case .deleted(_, let id, _, _): print("deleted", id)
            case .bulkChange(_, let count, _): print("many rows", count ?? 0)
            case .schemaChange: print("schema")
            }
        }
        let ofTwo = try await storage.changeNotifier.events(for: User.self, filter: .rowIds(["1", "2"]))
        let ofNames = try await storage.changeNotifier.events(for: User.self, filter: .affectsFields(["name"]))
        print(ofTwo, ofNames)
    }

    @MainActor private static func views(
        _ users: QuerySubscription<User>, pages: PaginatedQuerySubscription<User>,
        byStatus: GroupedQuerySubscription<Order, String>, search: SearchSubscription<Article>,
        screen: CombinedSubscription, storage: Storage
    ) async {
        if let error = users.error {
            print(error.message, error.remedy)
            await users.refresh()
        }
        users.cancel()
        let immediate = QuerySubscription(storage.query(User.self).orderBy(\.name), start: .immediate)
        print(immediate)
        if let user = pages.item(at: 0) { print(user.name) }
        if pages.hasPreviousPage { await pages.goToPreviousPage() }
        await pages.goToPage(pages.totalPages - 1)
        if byStatus.hasItems(in: "open") { print(byStatus.items(in: "open")) }
        search.clearSearch()
        if screen.hasErrors { await screen.refreshAll() }
        do {
            func retry(_ view: some SubscriptionStatus) async {
                if let error = view.error, !view.isLoading {
                    print(error.message)
                    await view.refresh()
                }
            }
            await retry(users)
        }
        let registry = SubscriptionRegistry.shared
        do {
            let id = registry.register(users)
            registry.unregister(id)
        }
        let known = registry.subscription("users", as: QuerySubscription<User>.self)
        print(known as Any)
        for view in registry.getMetrics() where view.averageRefreshTime > 0.1 { print(view.id, view.refreshCount) }
        for view in await registry.getDebugInfo() where view.isActive { print(view.id, view.type, view.position) }
        for view in registry.getMetrics() { print(view.id, view.refreshCount, view.averageRefreshTime) }
    }

    @StorageEntity
    struct Reminder: Identifiable {
        var id: Int
        var text: String
        var due: Date?
    }

    private struct Feed {
        func posts(of author: String, in tx: some TransactionReader) throws -> [Post] {
            guard try tx.exists(User.self, id: author) else { return [] }
            return try tx.loadChildren(Post.self, where: "authorId", equals: author, orderBy: "createdAt")
        }
    }

    private static func conditions(_ storage: Storage) async throws {
        do {
            let orders = try await storage.query(Order.self).where { $0.status.in(["open", "paid"]) }.fetch()
            print(orders)
        }
        do {
            let name = StorageColumn<String>("name").collating(.noCase)
            let early = try await storage.query(User.self).where(name < "m").fetch()
            print(early)
        }
        do {
            let mine = storage.scoped { scope in scope.allow(Order.self) { $0.customerId == "1" } }
            let query: ScopedQuery<Order> = mine.query(Order.self)
            let open = try await query.where { $0.status == "open" }.count()
            print(open)
        }
        let ids = try await storage.appliedMigrations().map(\.id)
        print(ids)
    }

    private static func injected(_ storage: Storage) async throws {
        do {
            let users: GenericRepository = storage.repository(User.self)
            let anna = try await users.get(id: "1")
            print(anna as Any)
        }
        do {
            let users: AnyRepository<User> = storage.anyRepository(User.self)
            let anna = try await users.get(id: "1")
            print(anna as Any)
        }
        let users = try await withDatabaseContainer(PersistenceContainer(storage)) {
            try await PersistenceContainer.current?.storage.all(User.self)
        }
        print(users as Any)
    }

    private enum Priority: Int, Sendable {
        case high, low
    }

    private static func sequences(_ storage: Storage) async throws {
        let order = GroupOrder<Priority>.rawValue(ascending: false)
        print(order)
        let changes: ChangeStream = storage.changes(since: .head)
        for try await change in changes { print(change.commit.number, change.events.count) }
        let snapshots: LiveSequence<[User]> = storage.query(User.self).orderBy(\.name).live().snapshots
        for try await users in snapshots { show(users) }
        let events: ChangeEventSequence = try await storage.changeNotifier.events(for: User.self)
        for await event in events { print(event.position, event.tableName) }
        for await event in try await storage.changeNotifier.events(for: User.self) {
            guard case .updated(_, let id, let changes, _) = event, let email = changes["email"] else { continue }
            print(id, email.old, email.new)
        }
        try await storage.log.forEachBatch { batch in
            print(batch.positions, batch.count)
            return batch.positions.upperBound < 10_000
        }
    }

    @MainActor private static func sequence(_ users: QuerySubscription<User>) async {
        let snapshots: SubscriptionSequence<[User]> = users.snapshots
        for await items in snapshots { show(items) }
    }
}
