import Foundation
import StorageEntities
import StorageKit
import StorageSync

/// Fetches a query source again and again. The remote answers a generation of marks, each with other rows than the one before, at a
/// time that is the generation's number; `answered` with its number is printed before the answer is merged, the number alone behind it.
///
/// In pages, only the first generation comes whole: of the next one the second page never comes, and `between` is printed when it is
/// asked for.
struct Refresher {
    let store: String
    let isPaged: Bool

    private final class Remote: Sendable, StorageClock {
        let generation: Int
        init(generation: Int) { self.generation = generation }
        var now: Date { Date(timeIntervalSince1970: Double(generation)) }
    }

    /// The marks that the remote has in a generation.
    static func marks(_ generation: Int) -> [Mark] {
        (0..<200).filter { $0 % 3 != generation % 3 }.map {
            Mark(id: "mark-\($0)", batch: "\(generation)", number: $0)
        }
    }

    func run() async throws {
        var generation = try await lastGeneration()
        while true {
            generation += 1
            let remote = Remote(generation: generation)
            let container = try PersistenceContainer.file(
                at: URL(fileURLWithPath: store), config: StorageConfig(clock: remote)
            ) { $0.autoSchema(MarkRecord.self) }
            let action = QueryRefreshAction<Mark> { try await answer(remote.generation, to: $0) }
            let source = QuerySource(Mark.all(), name: "marks").remote(action).cache(.networkFirst)
            try await container.refresh(source)
            CrashWorker.say("\(generation)")
            try await container.storage.close()
        }
    }

    private func answer(_ generation: Int, to fetch: QueryFetch) async throws -> QueryFetchAnswer<Mark> {
        let marks = Self.marks(generation)
        guard isPaged else {
            CrashWorker.say("answered \(generation)")
            return .rows(marks)
        }
        let half = marks.count / 2
        guard fetch.cursor != nil else { return .rows(Array(marks[..<half]), next: "2") }
        if generation > 1 {
            CrashWorker.say("between")
            try await Task.sleep(for: .seconds(86_400))
        }
        return .rows(Array(marks[half...]))
    }

    private func lastGeneration() async throws -> Int {
        let storage = try StorageKit.start(at: URL(fileURLWithPath: store)) { $0.autoSchema(MarkRecord.self) }.facade
        let last = try await storage.querySourceStatuses().first?.lastRefresh
        try await storage.close()
        return last.map { Int($0.timeIntervalSince1970) } ?? 0
    }
}
