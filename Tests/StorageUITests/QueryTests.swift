import StorageEntities
import StorageUI
import Testing

/// The examples of query sources as their reference writes them, apart from its views: declared beside the model, provided by the task,
/// shown by a property. This file imports `StorageUI` alone, so `@Query` is the property wrapper.
@MainActor @Suite struct QueryTests {
    private func container() throws -> PersistenceContainer {
        try .inMemory {
            $0.autoSchema(TaskRecord.self)
            $0.autoSchema(UserRecord.self)
        }
    }

    private static let tasks = [
        Task(id: 1, title: "first", isCompleted: true, priority: 1, createdAt: Date(timeIntervalSince1970: 20)),
        Task(id: 2, title: "second", isCompleted: false, priority: 2, createdAt: Date(timeIntervalSince1970: 10)),
    ]

    @Test("Sources are shown by their key paths")
    func sourcesByKeyPath() async throws {
        let container = try container()
        let api = MockTasksAPI(tasks: Self.tasks)
        await withDatabaseContainer(container) {
            await withQuerySources(TaskSources(api: api)) {
                let list = TaskList()
                #expect(list.tasks.isEmpty)
                #expect(list.$tasks.isLoading)
                await list.$tasks.refresh()
                #expect(list.tasks.map(\.id) == [2, 1])
                #expect(list.$tasks.error == nil)
                #expect(!list.$tasks.isStale)
                #expect(list.$tasks.lastRefreshTime != nil)
                await list.$completed.refresh()
                #expect(list.completed.map(\.id) == [1])
                await list.$urgent.refresh()
                #expect(list.urgent.map(\.id) == [2])
                #expect(list.recent.map(\.id) == [2, 1])
            }
        }
        let sources = try await container.storage.querySourceStatuses().map { "\($0.source) \($0.parameter)" }
        #expect(sources == ["TaskSources.all ", "TaskSources.byPriority 2", "TaskSources.completed "])
    }

    /// The test of the reference, with a mock that is filled after it was made.
    @Test("A mock may be filled later")
    func laterFilledMock() async throws {
        let mockAPI = FilledTasksAPI()
        mockAPI.tasksToReturn = Self.tasks
        try await withDatabaseContainer(container()) {
            await withQuerySources(TaskSources(api: mockAPI)) {
                let list = TaskList()
                await list.$tasks.refresh()
                #expect(list.tasks.map(\.id) == [2, 1])
                #expect(list.$tasks.error == nil)
            }
        }
    }

    /// Each is provided by itself, so a test gives only what it needs.
    @Test("A view combines sources of several providers")
    func severalProviders() async throws {
        let container = try container()
        await withDatabaseContainer(container) {
            let team = Team()
            await withQuerySources(UserSources(users: [User(id: 7, isActive: true), User(id: 8, isActive: false)])) {
                await team.$users.refresh()
                #expect(team.users.map(\.id) == [7])
                #expect(team.$tasks.error?.code == .notFound)
                await withQuerySources(TaskSources(api: MockTasksAPI(tasks: Self.tasks))) {
                    await team.$tasks.refresh()
                    #expect(team.tasks.map(\.id) == [2, 1])
                    #expect(team.users.map(\.id) == [7])
                }
            }
        }
    }

    /// Its views ask the feature's own remote, also inside of an app that provides the same sources with another one.
    @Test("A feature brings its own sources")
    func featureWithOwnSources() async throws {
        let container = try container()
        await withDatabaseContainer(container) {
            await withQuerySources(TaskSources(api: MockTasksAPI(tasks: []))) {
                let list = TaskList()
                await list.$tasks.refresh()
                #expect(list.tasks.isEmpty)
                #expect(list.$tasks.error == nil)
                let feature = TasksFeature(api: MockTasksAPI(tasks: Self.tasks))
                await feature.tasks.$tasks.refresh()
                #expect(feature.tasks.tasks.map(\.id) == [2, 1])
                #expect(list.tasks.map(\.id) == [2, 1])
                await list.$tasks.refresh()
                #expect(feature.tasks.tasks.isEmpty)
            }
        }
    }

    @Test("A query without a provider fetches by itself")
    func queryWithoutProvider() async throws {
        let container = try container()
        let api = MockTasksAPI(tasks: Self.tasks)
        await withDatabaseContainer(container) {
            let list = DirectList(api)
            await list.$tasks.refresh()
            #expect(list.tasks.map(\.id) == [2, 1])
        }
    }

    /// What is missing is reported, and found once it is there.
    @Test("A missing provider or store is an error")
    func missingProviderOrStore() async throws {
        let list = TaskList()
        #expect(list.tasks.isEmpty)
        #expect(!list.$tasks.isLoading)
        #expect(list.$tasks.error?.code == .notFound)
        let container = try container()
        await withQuerySources(TaskSources(api: MockTasksAPI(tasks: Self.tasks))) {
            #expect(list.$tasks.error?.code == .invalidArgument)
            await withDatabaseContainer(container) {
                await list.$tasks.refresh()
                #expect(list.tasks.count == 2)
            }
        }
    }

    /// An app whose store was opened without the rows' schema, as the reference's own example is.
    @Test("A source without a table says what to do")
    func sourceWithoutTable() async throws {
        let api = MockTasksAPI(tasks: Self.tasks)
        try await withDatabaseContainer(.inMemory()) {
            try await withQuerySources(TaskSources(api: api)) {
                let list = TaskList()
                let direct = DirectList(api)
                for query in [list.$tasks, list.$completed, list.$urgent, list.$recent, direct.$tasks] {
                    await query.waitUntilRefreshed()
                    for _ in 0..<2 {
                        let error = try #require(query.error)
                        #expect(error.code == .notFound)
                        #expect(error.message.contains("\"tasks\""))
                        #expect(error.remedy.contains("Declare"))
                        #expect(error.remedy.contains("autoSchema"))
                        await query.refresh()
                        #expect(!query.isLoading)
                        #expect(query.lastRefreshTime == nil)
                    }
                }
                #expect(list.tasks.isEmpty)
                #expect(direct.tasks.isEmpty)
            }
        }
    }
}

@StorageEntity
private struct Task {
    var id: Int
    var title: String
    var isCompleted: Bool
    var priority: Int
    var createdAt: Date
}

private protocol TasksAPIProtocol: Sendable {
    func fetchAll() async throws -> [Task]
    func fetchCompleted() async throws -> [Task]
    func fetchByPriority(_ priority: Int) async throws -> [Task]
}

private struct MockTasksAPI: TasksAPIProtocol {
    var tasks: [Task]

    func fetchAll() async throws -> [Task] { tasks }
    func fetchCompleted() async throws -> [Task] { tasks.filter(\.isCompleted) }
    func fetchByPriority(_ priority: Int) async throws -> [Task] { tasks.filter { $0.priority == priority } }
}

/// `@unchecked Sendable`: filled before it is used.
private final class FilledTasksAPI: TasksAPIProtocol, @unchecked Sendable {
    var tasksToReturn: [Task] = []

    func fetchAll() async throws -> [Task] { tasksToReturn }
    func fetchCompleted() async throws -> [Task] { tasksToReturn.filter(\.isCompleted) }
    func fetchByPriority(_ priority: Int) async throws -> [Task] { tasksToReturn.filter { $0.priority == priority } }
}

@QuerySources
private struct TaskSources {
    let api: any TasksAPIProtocol

    var all: QuerySource<Task> {
        QuerySource(Task.all().order(by: .createdAt))
            .remote { try await api.fetchAll() }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
    }

    var completed: QuerySource<Task> {
        QuerySource(Task.all().filter(Task.Columns.isCompleted == true))
            .remote { try await api.fetchCompleted() }
            .cache(.cacheFirst(ttl: .hours(1)))
    }

    var byPriority: (Int) -> QuerySource<Task> {
        { priority in
            QuerySource(Task.all().filter(Task.Columns.priority == priority))
                .remote { [api] in try await api.fetchByPriority(priority) }
                .cache(.staleWhileRevalidate(staleAfter: .minutes(10)))
        }
    }

    // Local-only query (no remote fetch needed)
    var recent: QuerySource<Task> {
        QuerySource(Task.all().order(by: .createdAt).limit(10))
    }
}

@MainActor private final class TaskList {
    @Query(\TaskSources.all) var tasks: [Task]
    @Query(\TaskSources.completed) var completed: [Task]
    @Query(\TaskSources.byPriority, param: 2) var urgent: [Task]
    @Query(\TaskSources.recent, start: .immediate) var recent: [Task]
}

@StorageEntity
private struct User {
    var id: Int
    var isActive: Bool
}

@QuerySources
private struct UserSources {
    let users: [User]

    var active: QuerySource<User> {
        QuerySource(User.all().filter(User.Columns.isActive == true))
            .remote { users.filter(\.isActive) }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(15)))
    }
}

@MainActor private final class Team {
    @Query(\UserSources.active) var users: [User]
    @Query(\TaskSources.all) var tasks: [Task]
}

/// What a feature shows, with sources of its own around it.
@MainActor private final class TasksFeature {
    let tasks: TaskList

    init(api: any TasksAPIProtocol) {
        tasks = withQuerySources(TaskSources(api: api)) {
            let list = TaskList()
            // The first access finds the source.
            _ = list.$tasks
            return list
        }
    }
}

@MainActor private final class DirectList {
    @Query<Task> var tasks: [Task]

    init(_ api: MockTasksAPI) {
        _tasks = Query(
            Task.all().order(by: .createdAt), cachePolicy: .staleWhileRevalidate(staleAfter: .minutes(5)),
            refresh: .fromAPI { try await api.fetchAll() })
    }
}
