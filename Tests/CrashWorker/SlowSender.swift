import Foundation
import StorageEntities
import StorageKit
import StorageProjections
import Synchronization
import TestSupport

/// A row whose events are as large as its text.
@StorageEntity(table: "letters")
struct Letter {
    var id: Int
    var text: String
}

/// A side effect that doesn't return until a gate is opened.
final class SlowSender: SideEffectingProjection {
    let name = "sent"
    let version = 1
    let entities = ["letters"]
    private let gate = Gate()
    private let positions = Mutex<[Int64]>([])

    func prepare(_ db: Database) throws { try db.execute(sql: "CREATE TABLE sent(position INTEGER PRIMARY KEY)") }
    func apply(_ batch: ProjectionBatch, _ db: Database) throws {}

    func committed(_ events: [StorageEvent]) async {
        await gate.wait()
        positions.withLock { $0 += events.map(\.position) }
    }

    /// Commits 128 MB of events while the side effect waits, and prints by how many megabytes the process has grown and how many
    /// events the side effect had then, in their order. In a process of its own, so that the memory is that of the events.
    static func run(store: String, mode: ProjectionMode) async throws {
        let sender = SlowSender()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: store)) {
            $0.autoSchema(LetterRecord.self)
            $0.autoSchema(MarkRecord.self)
            $0.addProjection(sender, mode: mode)
        }.facade
        var written = [try await storage.save(Letter(id: 1, text: "")).position]
        while !sender.gate.isReached { try await Task.sleep(for: .milliseconds(1)) }
        let before = ProcessMemory.resident
        for number in 0..<128 {
            let text = String(ascii: number.isMultiple(of: 2) ? "0" : "1", count: 1 << 20)
            written.append(try await storage.save(Letter(id: 1, text: text)).position)
            // The side effect isn't called for those of other entities in between.
            try await storage.waitForProjections(
                through: try await storage.save(Mark(id: "m", batch: "b", number: number)))
        }
        CrashWorker.say("\(Int((ProcessMemory.resident - before) / 1_000_000)) megabytes")
        sender.gate.open()
        try await storage.close()
        CrashWorker.say("\(sender.positions.withLock { $0 == written ? $0.count : 0 }) sent")
    }
}
