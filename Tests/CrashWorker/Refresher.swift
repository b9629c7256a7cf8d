import Foundation
import StorageKit
import StorageSync

/// Fetches a query source again and again. The remote answers a generation of marks, each with other rows than the one before, at a
/// time that is the generation's number; the name of each that was merged is printed.
struct Refresher {
    let store: String

    private final class Remote: Sendable, StorageCore.Clock {
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
            let source = QuerySource(Mark.all(), name: "marks").remote { Self.marks(remote.generation) }
                .cache(.networkFirst)
            try await container.refresh(source)
            CrashWorker.say("\(generation)")
            try await container.storage.close()
        }
    }

    private func lastGeneration() async throws -> Int {
        let storage = try StorageKit.start(at: URL(fileURLWithPath: store)) { $0.autoSchema(MarkRecord.self) }.facade
        let last = try await storage.querySourceStatuses().first?.lastRefresh
        try await storage.close()
        return last.map { Int($0.timeIntervalSince1970) } ?? 0
    }
}
