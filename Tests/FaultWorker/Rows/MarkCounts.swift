import StorageKit
import StorageProjections

/// How many marks each write has, kept by a projection that follows the log.
struct MarkCounts: Projection {
    let name = "mark_counts"
    let version = 1
    let entities = ["marks"]

    func prepare(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE mark_counts(batch TEXT PRIMARY KEY, marks INTEGER NOT NULL)")
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for change in try batch.changes(of: Mark.self) {
            if let old = change.old { try count(old, -1, db) }
            if let new = change.new { try count(new, 1, db) }
        }
        try db.execute(sql: "DELETE FROM mark_counts WHERE marks = 0")
    }

    private func count(_ mark: Mark, _ difference: Int, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO mark_counts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET marks = marks + ?2",
            arguments: [mark.batch, difference])
    }
}
