#if STORAGE_HTTP
    import Foundation
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageTesting
    import Testing

    @StorageEntity
    struct Chore: Codable, Equatable {
        var id: Int
        var title: String
        var priority: Int

        init(id: Int, title: String, priority: Int = 0) {
            self.id = id
            self.title = title
            self.priority = priority
        }
    }

    extension [Chore] {
        var json: String {
            "["
                + map { "{\"id\":\($0.id),\"title\":\"\($0.title)\",\"priority\":\($0.priority)}" }.joined(
                    separator: ",") + "]"
        }
    }

    /// A store with chores and a manual clock.
    struct Household {
        let clock = ManualClock()
        let container: PersistenceContainer

        var storage: Storage { container.storage }

        init() throws {
            container = try .inMemory(config: StorageConfig(clock: clock)) { $0.autoSchema(ChoreRecord.self) }
        }

        static var all: QueryRequest<Chore> { QueryRequest<Chore>() }

        func stored() async throws -> [Chore] { try await storage.query(Chore.self).orderBy(\.id).fetch() }

        func status() async throws -> QuerySourceStatus { try #require(try await storage.querySourceStatuses().first) }
    }

    extension HTTPRemote {
        /// What one request is answered with, without a store.
        func answer(_ fetch: QueryFetch = QueryFetch()) async throws -> QueryFetchAnswer<Chore> {
            let action = try #require(QuerySource(Household.all, name: "chores").remote(self).refreshAction)
            return try await action.fetch(fetch)
        }

        /// The error that a request ends with.
        func error(
            _ fetch: QueryFetch = QueryFetch(), sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> HTTPRemoteError {
            let error = await #expect(throws: HTTPRemoteError.self, sourceLocation: sourceLocation) {
                _ = try await answer(fetch)
            }
            return try #require(error, sourceLocation: sourceLocation)
        }
    }

    extension QueryFetchAnswer<Chore> {
        var rows: [Chore]? { if case .rows(let rows, _, _) = self { rows } else { nil } }
        var next: String? { if case .rows(_, let next, _) = self { next } else { nil } }
        var validator: String? { if case .rows(_, _, let validator) = self { validator } else { nil } }
        var isNotModified: Bool { if case .notModified = self { true } else { false } }
    }

#endif
