import GRDB
import StorageKit
import TestSupport

/// The library in tables that SQL has made: with collations, columns without a type, constraints, cascades and triggers, changed by
/// statements of every kind.
enum UnusualLibrary {
    private static let ids = ["n1", "N1", "n1 ", "n2", "N2", "n3", "Ä", "ä", "", "1", "01"]

    static func open(_ generator: inout SplitMix64) throws -> Storage {
        let definitions = definitions(&generator)
        return try StorageKit.inMemory { schema in
            schema.autoSchema(PublisherRecord.self, NovelistRecord.self, NovelRecord.self, ChapterRecord.self)
            schema.migration("unusual tables") { db in
                for (table, sql) in definitions {
                    try db.execute(sql: sql)
                    try db.execute(sql: "DROP TABLE \(table)")
                    try db.execute(sql: "ALTER TABLE \(table)_new RENAME TO \(table)")
                }
                for statement in statements { try db.execute(sql: statement) }
            }
        }.facade
    }

    private static func definitions(_ generator: inout SplitMix64) -> [(table: String, sql: String)] {
        func collation(_ generator: inout SplitMix64) -> String {
            generator.pick(["", "", " COLLATE NOCASE", " COLLATE RTRIM"])
        }
        func action(_ generator: inout SplitMix64) -> String { generator.pick(["CASCADE", "SET NULL"]) }
        let key = collation(&generator)
        let agrees = generator.chance(40)
        func reference(_ generator: inout SplitMix64) -> String {
            (agrees ? " TEXT" : generator.pick([" TEXT", ""])) + (agrees ? key : collation(&generator))
        }
        let references = generator.chance(70)
        func novelist(_ generator: inout SplitMix64) -> String {
            references ? " REFERENCES novelists(id) ON DELETE \(action(&generator)) ON UPDATE CASCADE" : ""
        }
        // Of the kinds of columns that keep a whole number one.
        let number = [" INTEGER", " NUMERIC", ""]
        return [
            (
                "publishers",
                "CREATE TABLE publishers_new(id INTEGER PRIMARY KEY, city TEXT\(collation(&generator)), updatedAt DATETIME NOT NULL DEFAULT '2026-01-01 00:00:00.000')"
            ),
            (
                "novelists",
                """
                CREATE TABLE novelists_new(
                  id TEXT NOT NULL PRIMARY KEY\(key), country TEXT NOT NULL\(collation(&generator)),
                  mentorId\(reference(&generator))\(novelist(&generator)), updatedAt DATETIME NOT NULL DEFAULT '2026-01-01 00:00:00.000')
                """
            ),
            (
                "novels",
                """
                CREATE TABLE novels_new(
                  id INTEGER PRIMARY KEY, year INTEGER NOT NULL, novelistId\(reference(&generator))\(novelist(&generator)),
                  publisherId\(generator.pick(number)), updatedAt DATETIME NOT NULL DEFAULT '2026-01-01 00:00:00.000'\(generator.chance(50) ? ", UNIQUE(year, publisherId)" : ""))
                """
            ),
            (
                "chapters",
                """
                CREATE TABLE chapters_new(
                  id INTEGER PRIMARY KEY, pages INTEGER NOT NULL, novelId\(generator.pick(number)) NOT NULL
                  \(references ? "REFERENCES novels(id) ON DELETE CASCADE ON UPDATE CASCADE" : ""), updatedAt DATETIME NOT NULL DEFAULT '2026-01-01 00:00:00.000')
                """
            ),
        ]
    }

    private static let statements = [
        """
        CREATE TRIGGER novel_deleted AFTER DELETE ON novels WHEN old.year % 3 = 0
        BEGIN UPDATE novelists SET country = 'IE' WHERE id = old.novelistId; END
        """,
        """
        CREATE TRIGGER chapter_added AFTER INSERT ON chapters WHEN new.pages % 4 = 0
        BEGIN UPDATE novels SET year = year + 1 WHERE id = new.novelId AND year < 2030; END
        """,
        """
        CREATE TRIGGER novelist_moved AFTER UPDATE OF country ON novelists WHEN new.country = 'PL'
        BEGIN UPDATE novels SET publisherId = 1 WHERE novelistId = new.id AND publisherId = 2; END
        """,
        "CREATE INDEX novels_by_novelist ON novels(novelistId)",
        "CREATE INDEX novelists_by_mentor ON novelists(mentorId)",
        "CREATE TABLE scratch(value)",
    ]

    /// A few statements, some of which fail, with savepoints that are kept or undone.
    static func change(_ db: Database, _ generator: inout SplitMix64, size: Int) throws {
        var isOpen = false
        for _ in 0...generator.below(5) {
            switch generator.below(12) {
            case 0 where !isOpen:
                try db.execute(sql: "SAVEPOINT s")
                isOpen = true
            case 1 where isOpen: try db.execute(sql: "ROLLBACK TO s")
            case 2 where isOpen:
                try db.execute(sql: "RELEASE s")
                isOpen = false
            default:
                do {
                    try db.execute(sql: statement(&generator, size))
                } catch is DatabaseError {}
            }
        }
        if isOpen { try db.execute(sql: generator.chance(50) ? "ROLLBACK TO s; RELEASE s" : "RELEASE s") }
    }

    private static func statement(_ generator: inout SplitMix64, _ size: Int) -> String {
        func id(_ generator: inout SplitMix64) -> String { "'\(generator.pick(ids))'" }
        func novel(_ generator: inout SplitMix64) -> Int { generator.below(2 * size) }
        let or = generator.pick(["", " OR REPLACE", " OR REPLACE", " OR IGNORE", " OR FAIL"])
        let country = generator.pick(["UA", "PL", "IE", "ua"])
        let publisher = generator.pick(["1", "2", "3", "NULL"])
        let year = 1990 + generator.below(30)
        switch generator.below(26) {
        case 0..<3:
            return
                "INSERT\(or) INTO novelists(id, country, mentorId) VALUES (\(id(&generator)), '\(country)', \(generator.chance(40) ? "NULL" : id(&generator)))"
        case 3..<7:
            return
                "INSERT\(or) INTO novels(id, year, novelistId, publisherId) VALUES (\(novel(&generator)), \(year), \(generator.chance(10) ? "NULL" : id(&generator)), \(publisher)), (\(novel(&generator)), \(year), \(id(&generator)), \(publisher))"
        case 7..<10:
            return
                "INSERT\(or) INTO chapters(id, pages, novelId) VALUES (\(generator.below(4 * size)), \(generator.below(100)), \(novel(&generator)))"
        case 10:
            return
                "INSERT\(or) INTO publishers(id, city) VALUES (\(1 + generator.below(3)), '\(generator.pick(["Kyiv", "Lviv", "kyiv"]))')"
        case 11: return "DELETE FROM publishers WHERE id = \(publisher)"
        case 12: return "DELETE FROM novelists WHERE id = \(id(&generator))"
        case 13: return "DELETE FROM novels WHERE id % 5 = \(generator.below(5))"
        case 14: return "DELETE FROM chapters WHERE pages < \(generator.below(60))"
        case 15: return "UPDATE\(or) novelists SET id = \(id(&generator)) WHERE id = \(id(&generator))"
        case 16: return "UPDATE\(or) novels SET id = id + \(1 + generator.below(2)) WHERE id = \(novel(&generator))"
        case 17:
            let (one, other) = (id(&generator), id(&generator))
            return
                "UPDATE\(or) novels SET novelistId = CASE novelistId WHEN \(one) THEN \(other) WHEN \(other) THEN \(one) ELSE novelistId END"
        case 18: return "UPDATE\(or) novels SET year = year + 1 WHERE id % 2 = \(generator.below(2))"
        case 19: return "UPDATE\(or) chapters SET novelId = \(novel(&generator)) WHERE id % 3 = \(generator.below(3))"
        case 20:
            return
                "UPDATE\(or) novelists SET mentorId = \(id(&generator)), country = '\(country)' WHERE id < \(id(&generator))"
        case 21: return "UPDATE\(or) novels SET publisherId = \(publisher) WHERE year > \(year)"
        case 22:
            let row = novel(&generator)
            return """
                CREATE TEMP TABLE IF NOT EXISTS kept(id, year, novelistId, publisherId);
                DELETE FROM kept;
                INSERT INTO kept SELECT id, year, novelistId, publisherId FROM novels WHERE id = \(row);
                DELETE FROM novels WHERE id = \(row);
                INSERT INTO novels(id, year, novelistId, publisherId) SELECT * FROM kept
                """
        case 23:
            return
                "INSERT INTO novelists(id, country) VALUES (\(id(&generator)), '\(country)') ON CONFLICT DO UPDATE SET country = excluded.country, mentorId = NULL"
        case 24: return schemaChange(&generator)
        default: return "UPDATE novelists SET rowid = rowid + 100 WHERE id = \(id(&generator))"
        }
    }

    private static func schemaChange(_ generator: inout SplitMix64) -> String {
        let table = generator.pick(["publishers", "novelists", "novels", "chapters"])
        return switch generator.below(6) {
        case 0:
            "ALTER TABLE \(table) ADD COLUMN note TEXT DEFAULT 'none'; ALTER TABLE \(table) RENAME COLUMN note TO mark"
        case 1:
            "ALTER TABLE \(table) ADD COLUMN gone; UPDATE \(table) SET gone = 1; ALTER TABLE \(table) DROP COLUMN gone"
        case 2: "DROP INDEX IF EXISTS novels_by_novelist"
        case 3: "CREATE INDEX IF NOT EXISTS novels_by_novelist ON novels(novelistId)"
        case 4: "ALTER TABLE \(table) RENAME TO other; ALTER TABLE other RENAME TO \(table)"
        default: "DELETE FROM \(table)"
        }
    }
}
