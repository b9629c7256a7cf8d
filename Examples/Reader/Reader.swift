#if STORAGE_HTTP
    import Foundation
    import StorageHTTP

    /// Reads the stories of an HTTP service, offline first: prints what the store has at once, and what the service has as soon as it has
    /// answered.
    ///
    /// `reader STORE URL`, where URL answers a JSON array of stories: `[{"id": 1, "title": "…", "points": 12}]`.
    @main
    struct Reader {
        @MainActor
        static func main() async throws {
            let arguments = CommandLine.arguments.dropFirst()
            guard let store = arguments.first, let service = arguments.dropFirst().first else {
                print("usage: reader STORE URL")
                exit(2)
            }
            let container = try PersistenceContainer.file(at: URL(fileURLWithPath: store)) {
                $0.autoSchema(StoryRecord.self)
            }
            let stories = container.results(
                of: StorySources(remote: HTTPRemote(service)).source(\.best), start: .immediate)
            show(stories)
            if stories.isLoading {
                await stories.waitUntilRefreshed()
                print("")
                show(stories)
            }
            try await container.storage.close()
        }

        @MainActor
        private static func show(_ stories: QueryResults<Story>) {
            let fetched = stories.lastRefreshTime.map { "fetched \($0.formatted(.iso8601))" } ?? "never fetched"
            print("\(stories.items.count) stories, \(fetched)\(stories.isStale ? ", stale" : "")")
            for story in stories.items { print("  \(story.points)\t\(story.title)") }
            if let error = stories.error { print("! \(error.message)") }
        }
    }
#else
    @main
    struct Reader {
        static func main() { print("Build it with the trait HTTP: swift run --traits HTTP reader STORE URL") }
    }
#endif
