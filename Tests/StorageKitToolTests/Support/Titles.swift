import GRDB
import StorageKit
import StorageProjections

/// Remembers titles; can't take in one of them.
struct Titles: Projection {
    var name = "titles"
    var version = 1
    var poison = "poison"
    let entities = ["articles"]

    struct Poisoned: Error, CustomStringConvertible {
        var description: String { "it is poison" }
    }

    func prepare(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, title TEXT)")
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for change in try batch.changes(of: "articles") {
            guard let new = change.new, let id = new["id"], let title = new["title"] else { continue }
            if title == .text(poison) { throw Poisoned() }
            try db.execute(sql: "INSERT OR REPLACE INTO \(name) VALUES (?, ?)", arguments: [id, title])
        }
    }
}
