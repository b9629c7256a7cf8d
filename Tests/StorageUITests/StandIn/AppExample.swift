import StorageUI
import SwiftUI

// A whole app with query sources, as their reference writes it: sources beside their models, an app that provides them, views that name
// them, tests with other remotes, and a feature that brings its own.

// MARK: Models

@StorageEntity
struct Task: Identifiable {
    var id: Int
    var title: String
    var isCompleted: Bool
    var priority: Int
    var createdAt: Date
}

@StorageEntity
struct User: Identifiable {
    var id: Int
    var name: String
    var isActive: Bool
}

@StorageEntity
struct Project: Identifiable {
    var id: Int
    var name: String
    var isArchived: Bool
}

// MARK: Remotes

public protocol TasksAPIProtocol: Sendable {}

extension TasksAPIProtocol {
    func fetchAll() async throws -> [Task] { [] }
    func fetchCompleted() async throws -> [Task] { [] }
    func fetchByPriority(_ priority: Int) async throws -> [Task] { [] }
}

protocol UsersAPIProtocol: Sendable {
    func fetchActive() async throws -> [User]
}

protocol ProjectsAPIProtocol: Sendable {
    func fetchActive() async throws -> [Project]
}

struct TasksAPI: TasksAPIProtocol {
    static func live() -> TasksAPI { TasksAPI() }
}

struct UsersAPI: UsersAPIProtocol {
    static func live() -> UsersAPI { UsersAPI() }
    func fetchActive() async throws -> [User] { [] }
}

struct ProjectsAPI: ProjectsAPIProtocol {
    static func live() -> ProjectsAPI { ProjectsAPI() }
    func fetchActive() async throws -> [Project] { [] }
}

// MARK: Sources

@QuerySources
struct TaskSources {
    let api: TasksAPIProtocol

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

    var recent: QuerySource<Task> {
        QuerySource(Task.all().order(by: .createdAt).limit(10))
    }
}

@QuerySources
struct UserSources {
    let api: UsersAPIProtocol

    var active: QuerySource<User> {
        QuerySource(User.all().filter(User.Columns.isActive == true))
            .remote { try await api.fetchActive() }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(15)))
    }
}

@QuerySources
struct ProjectSources {
    let api: ProjectsAPIProtocol

    var active: QuerySource<Project> {
        QuerySource(Project.all().filter(Project.Columns.isArchived == false))
            .remote { try await api.fetchActive() }
            .cache(.staleWhileRevalidate(staleAfter: .minutes(10)))
    }
}

// MARK: Views

struct TaskListView: View {
    @Query(\TaskSources.all)
    var tasks: [Task]

    @Query(\TaskSources.completed)
    var completed: [Task]

    var body: some View {
        List(tasks) { task in
            Text(task.title)
        }
        .refreshable {
            await $tasks.refresh()
        }
        .overlay {
            if $tasks.isStale {
                Text("Data may be outdated")
            }
        }
    }
}

struct PriorityTasksView: View {
    let priority: Int

    @Query(\TaskSources.byPriority, param: 1)
    var highPriority: [Task]

    var body: some View {
        List(highPriority) { task in
            Text(task.title)
        }
    }
}

struct TeamView: View {
    @Query(\UserSources.active)
    var users: [User]

    @Query(\ProjectSources.active)
    var projects: [Project]

    var body: some View {
        VStack {
            List(users) { Text($0.name) }
            List(projects) { Text($0.name) }
        }
    }
}

struct DirectView: View {
    static let api = TasksAPI.live()

    @Query(
        Task.all().order(by: .createdAt),
        cachePolicy: .staleWhileRevalidate(staleAfter: .minutes(5)),
        refresh: .fromAPI { try await api.fetchAll() }
    )
    var tasks: [Task]

    var body: some View { List(tasks) { Text($0.title) } }
}

struct ContentView: View {
    var body: some View {
        VStack {
            TaskListView()
            PriorityTasksView(priority: 1)
            TeamView()
            DirectView()
            TasksFeature(api: TasksAPI.live())
        }
    }
}

/// A feature of its own module.
public struct TasksFeature: View {
    let api: TasksAPIProtocol

    public var body: some View {
        TaskListView()
            .querySources(TaskSources(api: api))
    }
}

// MARK: The app

@main
struct MyApp: App {
    let database = try! PersistenceContainer.file(at: URL(fileURLWithPath: "tasks.sqlite"))

    var body: some Scene {
        WindowGroup {
            ContentView()
                .databaseContainer(database)
                .enableQueryCoordination(container: database)
                .querySources(TaskSources(api: TasksAPI.live()))
                .querySources(UserSources(api: UsersAPI.live()))
                .querySources(ProjectSources(api: ProjectsAPI.live()))
        }
    }
}

// MARK: Tests

extension Task {
    static let sample = Task(id: 1, title: "Sample", isCompleted: false, priority: 1, createdAt: .now)
}

/// `@unchecked Sendable`: filled before it is used.
final class MockTasksAPI: TasksAPIProtocol, @unchecked Sendable {
    var tasksToReturn: [Task] = []
    func fetchAll() async throws -> [Task] { tasksToReturn }
}

struct MockUsersAPI: UsersAPIProtocol {
    func fetchActive() async throws -> [User] { [] }
}

struct MockProjectsAPI: ProjectsAPIProtocol {
    func fetchActive() async throws -> [Project] { [] }
}

@MainActor func testTaskListView() -> some View {
    let mockAPI = MockTasksAPI()
    mockAPI.tasksToReturn = [Task.sample]

    return TaskListView()
        .querySources(TaskSources(api: mockAPI))
        .databaseContainer(try! .inMemory())
}

@MainActor func testTeamView() -> some View {
    TeamView()
        .querySources(UserSources(api: MockUsersAPI()))
        .querySources(ProjectSources(api: MockProjectsAPI()))
        .databaseContainer(try! .inMemory())
}
