import StorageKit
import StorageProjections

/// How many rows each write has, in a table and once more in another.
struct MarkCounts: Projection {
    let name = "mark_counts"
    let version = 1
    let entities = ["marks"]

    func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE mark_counts(batch TEXT PRIMARY KEY, marks INTEGER NOT NULL);
                CREATE TABLE mark_total(marks INTEGER NOT NULL, last INTEGER NOT NULL);
                INSERT INTO mark_total VALUES (0, 0);
                """)
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for change in try batch.changes(of: Mark.self) {
            guard let mark = change.new, change.old == nil else { continue }
            try db.execute(
                sql: "INSERT INTO mark_counts VALUES (?, 1) ON CONFLICT DO UPDATE SET marks = marks + 1",
                arguments: [mark.batch])
            try db.execute(sql: "UPDATE mark_total SET marks = marks + 1, last = ?", arguments: [change.position])
        }
    }
}
