import FaultSupport
import Foundation
import StorageKit
import StorageMaintenance
import Synchronization
import TestSupport

/// A rebuild that sorts its rows in a temporary file, of which one call fails.
struct SortedRebuild {
    /// The kind of the call: a write fails while rows are sorted, a read once they are merged.
    let kind: Int

    func run() async throws -> Tally {
        let folder = try TemporaryFolder.inMemory()
        var configuration = StorageConfig()
        // Nothing else may meet the fault.
        configuration.sealsInBackground = false
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path()), config: configuration) {
            $0.autoSchema(MarkRecord.self)
        }.facade
        try await Self.fill(storage)
        let before = try await Self.contents(storage)
        var pace = Rebuild.Pace()
        (pace.sorts, pace.seeksNeeded, pace.memory) = (true, false, 20_000)
        let isArmed = Mutex(false)
        _ = try await Rebuild(storage.engine, ["marks"], pace: pace) { [kind] progress in
            // Sorting is the first half of the work, in which the store isn't written to. When its last event is
            // added, the store has been read, and what is read next is merged.
            guard kind == FAULT_WRITE || progress.completed >= (progress.total - 1) / 2 else { return }
            let isFirst = isArmed.withLock { isArmed in
                defer { isArmed = true }
                return !isArmed
            }
            if isFirst { fault_arm(UInt32(kind), 1, 0, Int32(FAULT_EFFECT_FULL)) }
        }.run()
        var tally = Tally()
        tally.count("faults", Int(fault_disarm()))
        if try await Self.contents(storage) != before {
            tally.add(Finding(kind: .lost, text: "the rows aren't what they were"), "sorting")
        }
        for finding in try await storage.verify().findings {
            tally.add(Finding(kind: .unsound, text: "\(finding)"), "sorting")
        }
        try await storage.close()
        return tally
    }

    /// More than what SQLite keeps of a temporary file in memory. The last event is alone in its segment.
    private static func fill(_ storage: Storage) async throws {
        let text = String(repeating: "text ", count: 1_600)
        for version in 0..<4 {
            try await storage.save(
                (0..<100).map { Mark(id: "m\($0)", batch: "large", number: version, text: text + "\(version) \($0)") })
        }
        try await storage.save(Mark(id: "m7", batch: "last", number: 4, text: "last"))
    }

    private static func contents(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            try String.fetchAll(
                db, sql: "SELECT id || batch || number || text || '|' || _position FROM marks ORDER BY id")
        }
    }
}
