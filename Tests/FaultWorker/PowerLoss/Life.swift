import FaultSupport
import Foundation
import SchemaTestSupport
import StorageKit
import StorageMaintenance
import TestSupport

/// The life of a store, made of random steps through the API as programs hold it.
///
/// Isolation: an actor; one life has one store open at a time.
actor Life {
    /// What can happen to a store. Those that are named more than once happen more often.
    private enum Step: CaseIterable {
        case saveOne, saveAgain, saveMany, writeSQL, move, delete, saveTogether, failOnPurpose, revert
        case seal, rebuild, remakeProjection, copy, copyAgain, checkpoint, reopen
    }

    private let folder: String
    private let durability: StorageConfig.Durability
    private let ledger: Ledger
    /// What names of batches begin with, so that each life of a store has its own.
    private let prefix: String
    private var random: SplitMix64
    private var storage: Storage
    private var number = 0
    /// Batches that are there and that nothing else refers to, with their rows and the commit that made them.
    private var batches: [(name: String, rows: Int, commit: Int64)] = []

    init(
        in folder: String, seed: UInt64, durability: StorageConfig.Durability, ledger: Ledger,
        prefix: String = "b"
    ) throws {
        self.folder = folder
        self.prefix = prefix
        self.durability = durability
        self.ledger = ledger
        random = SplitMix64(seed: seed)
        let write = ledger.begin([:])
        storage = try LabStore.open(folder + "/store.sqlite", durability: durability)
        ledger.done(write, head: storage.head)
    }

    func live(_ steps: Int) async throws {
        for _ in 0..<steps { try await run(Step.allCases[Int.random(in: 0..<Step.allCases.count, using: &random)]) }
        try await storage.close()
    }

    private func run(_ step: Step) async throws {
        switch step {
        case .saveOne, .saveAgain: try await save(rows: 1)
        case .saveMany: try await save(rows: Int.random(in: 2...80, using: &random))
        case .writeSQL: try await writeSQL()
        case .move: try await move()
        case .delete: try await delete()
        case .saveTogether: try await saveTogether()
        case .failOnPurpose: try await failOnPurpose()
        case .revert: try await revert()
        case .seal: try await storage.seal()
        case .rebuild: try await storage.rebuild()
        case .remakeProjection: try await storage.projections.rebuild("mark_counts")
        case .copy, .copyAgain: try await copy()
        case .checkpoint: try await storage.engine.withWriter { _, db in _ = try db.checkpoint(.passive) }
        case .reopen: try await reopen()
        }
    }

    private func nextName() -> String {
        number += 1
        return "\(prefix)\(number)"
    }

    private func acknowledge(
        _ rows: [String: Int], _ body: @Sendable () async throws -> CommitReceipt
    ) async throws -> Int64? {
        let write = ledger.begin(rows)
        let receipt = try await body()
        ledger.done(write, head: receipt.position)
        return receipt.commit
    }

    private func save(rows: Int) async throws {
        let (storage, name) = (storage, nextName())
        let commit = try await acknowledge([name: rows]) { try await storage.save(LabStore.marks(name, rows)) }
        if let commit { batches.append((name, rows, commit)) }
    }

    private func writeSQL() async throws {
        let (storage, name) = (storage, nextName())
        let commit = try await acknowledge([name: 7]) {
            try await storage.write(actor: "sql") { tx in
                for row in 0..<7 {
                    try tx.database.execute(
                        sql: """
                            INSERT INTO marks(id, batch, number, text, updatedAt)
                            VALUES (?, ?, ?, 'by hand', '2026-01-15 10:00:00.000')
                            """,
                        arguments: ["\(name)-\(row)", name, row])
                }
            }
        }
        if let commit { batches.append((name, 7, commit)) }
    }

    /// Two batches change in one commit.
    private func move() async throws {
        guard let (from, rows, _) = takeBatch() else { return }
        let (storage, to) = (storage, nextName())
        let commit = try await acknowledge([from: 0, to: rows]) {
            try await storage.write { tx in
                try tx.database.execute(sql: "UPDATE marks SET batch = ? WHERE batch = ?", arguments: [to, from])
            }
        }
        if let commit { batches.append((to, rows, commit)) }
    }

    private func delete() async throws {
        guard let (name, _, _) = takeBatch() else { return }
        let storage = storage
        _ = try await acknowledge([name: 0]) {
            try await storage.write { try $0.deleteAll(Mark.self, where: "batch", equals: name) }
        }
    }

    private func revert() async throws {
        guard let (name, rows, commit) = takeBatch() else { return }
        // What undoes a move gives the rows back to a batch that nobody has written down.
        guard
            (try await storage.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM marks WHERE id LIKE ?", arguments: ["\(name)-%"])
            }) == rows
        else { return }
        let write = ledger.begin([name: 0])
        try await storage.revert(commit)
        ledger.done(write, head: storage.head)
    }

    private func takeBatch() -> (name: String, rows: Int, commit: Int64)? {
        guard !batches.isEmpty else { return nil }
        return batches.remove(at: Int.random(in: 0..<batches.count, using: &random))
    }

    private func saveTogether() async throws {
        let (storage, ledger) = (storage, ledger)
        let names = (0..<Int.random(in: 2...12, using: &random)).map { _ in nextName() }
        let saved = try await withThrowingTaskGroup(of: (String, Int64?).self) { group in
            for name in names {
                group.addTask {
                    let write = ledger.begin([name: 3])
                    let receipt = try await storage.save(LabStore.marks(name, 3))
                    ledger.done(write, head: receipt.position)
                    return (name, receipt.commit)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for case (let name, let commit?) in saved { batches.append((name, 3, commit)) }
    }

    /// What it writes is never to be seen.
    private func failOnPurpose() async throws {
        struct OnPurpose: Error {}
        do {
            try await storage.write { tx in
                try tx.save(LabStore.marks("never", 20))
                throw OnPurpose()
            }
        } catch is OnPurpose {}
    }

    private func copy() async throws {
        let name = "copy\(Int.random(in: 0..<3, using: &random)).sqlite"
        let write = ledger.begin([:], file: name)
        let copy = try await storage.backup(
            to: URL(fileURLWithPath: folder + "/" + name), replacing: true, verifying: Bool.random(using: &random))
        ledger.done(write, head: copy.position)
    }

    private func reopen() async throws {
        try await storage.close()
        storage = try LabStore.open(folder + "/store.sqlite", durability: durability)
    }
}
