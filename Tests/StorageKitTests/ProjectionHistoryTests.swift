import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageProjections
import StorageTesting
import TestSupport
import Testing

/// Keeps whole rows and every event's kind: what it gets must not depend on how and when it gets it.
private struct Mirror: Projection {
    let name = "mirror"
    let version = 1
    let entities = ["notes", "persons"]

    func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE mirror(kind TEXT, id TEXT, value TEXT, PRIMARY KEY (kind, id));
                CREATE TABLE mirror_sum(kind TEXT PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL);
                """)
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for change in try batch.changes(of: Note.self) {
            try put("note", "\((change.new ?? change.old)!.id)", change.old?.text, change.new?.text, db)
        }
        for change in try batch.changes(of: "persons") {
            // Columns that came later are among them only from then on, so what is compared here was always there.
            func text(_ row: [String: StorageValue]?) -> String? { row.map { "\($0["name"]!) \($0["score"]!)" } }
            try put("person", "\(change.key)", text(change.old), text(change.new), db)
        }
    }

    private func put(_ kind: String, _ id: String, _ old: String?, _ new: String?, _ db: Database) throws {
        // The old row is what was put last: a before-image that is wrong fails here.
        let held = try String.fetchOne(
            db, sql: "SELECT value FROM mirror WHERE kind = ? AND id = ?", arguments: [kind, id])
        guard held == old else {
            throw StorageError(.conflict, "\(id): \(held ?? "nil") != \(old ?? "nil")", remedy: "")
        }
        if let new {
            try db.execute(sql: "INSERT OR REPLACE INTO mirror VALUES (?, ?, ?)", arguments: [kind, id, new])
        } else {
            try db.execute(sql: "DELETE FROM mirror WHERE kind = ? AND id = ?", arguments: [kind, id])
        }
        let rows = (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        let bytes = (new?.utf8.count ?? 0) - (old?.utf8.count ?? 0)
        try db.execute(
            sql: """
                INSERT INTO mirror_sum VALUES (?1, ?2, ?3)
                ON CONFLICT(kind) DO UPDATE SET rows = rows + ?2, bytes = bytes + ?3
                """,
            arguments: [kind, rows, bytes])
    }
}

/// P5 for projections of users: what was applied as it happened is what comes out of the log.
struct ProjectionHistoryTests {
    @Test("Applied equals rebuilt on random histories")
    func appliedEqualsRebuilt() async throws {
        let rounds = max(2, Int(3 * testScale))
        let seeds = testSeeds(rounds)
        for round in 0..<rounds {
            let seed = seeds[round % seeds.count]
            try await run(seed: seed, commits: round == 0 ? 60 : 20)
        }
    }

    private func run(seed: UInt64, commits: Int) async throws {
        var kit = ProjectionConformance(Mirror()) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
        } history: { storage in
            var random = SplitMix64(seed: seed)
            for _ in 0..<commits { try await Self.commit(storage, &random) }
        }
        kit.batchSizes = [1, 5, 1_000]
        let findings = try await kit.run()
        #expect(findings == [], "seed \(seed)")
    }

    private static func commit(_ storage: Storage, _ random: inout SplitMix64) async throws {
        let steps = (0..<Int.random(in: 1...6, using: &random)).map { _ in
            (
                kind: Int.random(in: 0...11, using: &random), id: Int.random(in: 0...9, using: &random),
                number: Int.random(in: 0...999, using: &random)
            )
        }
        try await storage.write { tx in
            for step in steps {
                switch step.kind {
                case 0...3: try tx.save(Note(id: step.id, text: "text \(step.number)"))
                case 4...6: try tx.save(Person(id: "p\(step.id)", name: "n\(step.number)", score: Double(step.number)))
                case 7: try tx.delete(Note.self, id: step.id)
                case 8: try tx.execute("UPDATE persons SET score = score + 1 WHERE age IS NULL")
                case 9: try tx.execute("UPDATE OR REPLACE notes SET id = id + 100 WHERE id = \(step.id)")
                case 10:
                    // A change of the schema that the declared entities live with.
                    let count = try tx.database.columns(in: "persons").count
                    guard count < 20 else { continue }
                    try tx.execute("ALTER TABLE persons ADD COLUMN extra\(count) INTEGER DEFAULT \(step.id)")
                default: try tx.execute("DELETE FROM persons WHERE id = 'p\(step.id)'")
                }
            }
        }
    }
}
