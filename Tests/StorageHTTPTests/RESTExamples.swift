#if STORAGE_HTTP
    import Foundation
    import TestSupport
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageSync
    import Testing

    // The examples of the guide to REST remotes, compiled and run. `DocumentationTests` holds the page to this file.

    @StorageEntity
    struct Assignment: DataSyncModelProtocol {
        var id: String
        var title: String
    }

    @MainActor
    private final class Session {
        var user: String? = "7"
        func token(renewed: Bool) async throws -> String { renewed ? "new" : "old" }
    }

    @MainActor @Suite struct RESTExamples {
        @Test("A collection is described")
        func collectionExample() async throws {
            let session = Session()
            let container = try PersistenceContainer.inMemory { $0.autoSchema(AssignmentRecord.self) }
            try await withDatabaseContainer(container) { try await described(session) }
            try await container.storage.close()
        }

        private func described(_ session: Session) async throws {
            var rest = RESTConfiguration("https://api.example.com/v1") { wereRefused in
                ["Authorization": "Bearer \(try await session.token(renewed: wereRefused))"]
            }
            rest.queryMapping = .brackets
            rest.idempotencyHeader = "Idempotency-Key"
            rest.pollingInterval = .seconds(30)
            // Nobody is to be asked: the address is one that only exists in examples.
            #expect(try await rest.headers(true) == ["Authorization": "Bearer new"])
            let nobody = try LoopbackSocket()
            defer { withExtendedLifetime(nobody) {} }
            rest.baseURL = nobody.origin
            let tasksSyncEngine = CollectionSyncEngine<Assignment>(
                remote: RESTRemoteCollectionService(rest) { session.user.map { "users/\($0)/tasks" } },
                managerKey: "tasks")
            await tasksSyncEngine.startListening()
            #expect(tasksSyncEngine.status.missingCapabilities == .conditionalWrites)
            try await eventually { tasksSyncEngine.status.lastError?.contains("Connection refused") == true }
        }
    }
#endif
