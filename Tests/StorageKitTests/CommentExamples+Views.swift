import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageViews

/// The examples in the comments of `StorageViews`, compiled and not run.
@MainActor enum ViewCommentExamples {
    private typealias User = CommentExamples.User
    private typealias Post = CommentExamples.Post
    private typealias Article = CommentExamples.Article
    private typealias Task = CommentExamples.Task

    enum Status: String, Sendable, Codable, CaseIterable {
        case open, paid
    }

    @StorageEntity
    struct Order {
        var id: Int
        var status: Status
        var isPaid: Bool
        var total: Double
        var createdAt: Date
    }

    @StorageEntity
    struct Message {
        var id: Int
        var isRead: Bool
    }

    @StorageEntity
    struct Employee {
        var id: Int
        var name: String
        var department: String
    }

    @StorageEntity
    struct Director {
        var id: Int
        @StorageHasMany(foreignKey: "directorId") var films: [Film]
    }

    @StorageEntity
    struct Film {
        var id: Int
        var directorId: Int
    }

    /// How a row is drawn.
    private enum Look { case dimmed, normal }

    private static func show(_ tasks: [Task], _ look: (Task) -> Look) {}
    private static func show<Entity>(_ open: [Entity], _ done: [Entity]) {}
    private static func animate(_ changes: [ListChange<Film>], inSection section: Int) {}

    private static func lists(_ storage: Storage, rows: [User], subscription: QuerySubscription<User>) async {
        var rows = rows
        do {
            for await difference in subscription.differences {
                difference.apply(to: &rows)
            }
        }
        let adults = QuerySubscription(storage.query(User.self).where { $0.age >= 18 }.orderBy(\.name).limit(50))
        print(adults.items)
        let newest = SingleQuerySubscription(storage.query(Post.self).orderBy(\.createdAt, .descending))
        print(newest)
        let page = PaginatedQuerySubscription(storage.query(Post.self).orderBy(\.createdAt, .descending), pageSize: 20)
        await page.goToNextPage()
        print(page.currentPage, "page \(page.currentPageIndex + 1) of \(page.totalPages)")
        let search = SearchSubscription(storage.query(Article.self), configuration: .fullText())
        search.searchText = "swift concur"
    }

    static func groups(
        _ storage: Storage, sections: [GroupSection<String, Employee>],
        subscription: GroupedQuerySubscription<Employee, String>
    ) async {
        var sections = sections
        for await difference in subscription.differences {
            difference.apply(to: &sections)
        }
        let staff = GroupedQuerySubscription(
            storage.query(Employee.self).orderBy(\.name), groupBy: \.department,
            configuration: .init(sortGroupsBy: .count(ascending: false), maxItemsPerGroup: 5))
        for department in staff.sortedGroupKeys {
            print(department, staff.count(in: department), staff.items(in: department).map(\.name))
        }
    }

    static func aggregates(_ storage: Storage) {
        do {
            let totals = AggregationSubscription(storage.query(Order.self), .count, .sum(\.total), .max(\.createdAt))
            let (count, sum, latest) = totals.value
            print(count, sum, latest as Any)
        }
        let revenue = AggregationSubscription(storage.query(Order.self).where { $0.isPaid == true }, .sum(\.total))
        print(revenue.value)
        let totals = AggregationSubscription(storage.query(Order.self), .count, .sum(\.total), .average(\.total))
        let (count, sum, average) = totals.value
        print(count, sum, average as Any)
        let unread = CountSubscription(storage.query(Message.self).where { $0.isRead == false })
        print(unread.count)
        let byStatus = GroupedAggregationSubscription(
            storage.query(Order.self), .count, .sum(\.total), groupedBy: \.status)
        for group in byStatus.groups { print(group.key, group.value.0, group.value.1) }
        if let (count, sum) = byStatus[.paid] { print(count, sum) }
    }

    static func combined(_ storage: Storage) async {
        typealias Order = CommentExamples.Order
        let open = QuerySubscription(storage.query(Order.self).where { $0.status == "open" })
        let done = QuerySubscription(storage.query(Order.self).where { $0.status == "done" })
        let screen = CombinedSubscription {
            open
            done
        }
        for await _ in screen.positions { show(open.items, done.items) }
    }

    private static func registry(_ storage: Storage, users: QuerySubscription<User>, user: User) async throws {
        SubscriptionRegistry.shared.register(users, identifier: "users")
        for info in await SubscriptionRegistry.shared.getDebugInfo() { print(info) }
        let before = await storage.subscriptionWork
        try await storage.save(user)
        let after = await storage.subscriptionWork
        print(after.duration - before.duration)
        let events = try await storage.changeNotifier.events(for: User.self, filter: .affectsFields(["email"]))
        for await event in events {
            if case .updated(_, let id, let changes, _) = event { print(id, changes["email"]?.new ?? .null) }
        }
    }

    private static func live(_ storage: Storage, directors: Query<Director>, shown: [Director]) async throws {
        var shown = shown
        for try await difference in directors.live().differences {
            let films = difference.included(\.films, in: shown)
            difference.apply(to: &shown)
            for part in films { animate(part.difference.changes, inSection: part.owner) }
        }
        if let explanation = try await directors.live().explain() { print(explanation) }
        for try await tasks in storage.query(Task.self).orderBy(\.due).live().optimistic {
            show(tasks.value) { task in tasks.isPending(task) ? .dimmed : .normal }
        }
    }

    private static func resumed(_ storage: Storage) async throws {
        let adults = storage.query(User.self).where { $0.age >= 18 }.orderBy(\.name).limit(50).live()
        let live = adults
        do {
            var users: [User] = []
            for try await difference in adults.differences { difference.apply(to: &users) }
        }
        var (users, position) = ([User](), Int64(0))
        for try await difference in live.differences {
            difference.apply(to: &users)
            position = difference.position
        }
        // Later, also in another process that knows both:
        for try await difference in live.differences(since: position) { difference.apply(to: &users) }
    }

    static func returningReader(
        _ storage: Storage, _ notes: [SearchResult<CommentExamples.Note>]
    ) async throws {
        typealias Note = CommentExamples.Note
        var found = notes
        for try await difference in storage.query(Note.self).liveSearch("swift").differences(from: found) {
            difference.apply(to: &found)
        }
    }
}
