package import TestSupport

/// Makes up changes of a schema: tables of all kinds, what depends on them, and what has their names. The names are few, so that
/// many changes affect others; those that refer to what isn't there fail.
package struct HostileDefinitions: RandomStatements {
    package var random: SplitMix64

    package init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// Names of tables as SQL. Two are spellings of one word, and one differs from another only in its case.
    package static let tables = ["a", "b", "B", "c", "\"d d\"", "\"\u{E9}\"", "\"e\u{301}\"", "e"]

    private mutating func table() -> String { random.pick(Self.tables) }
    private mutating func column() -> String { random.pick(["p", "q", "r", "\"\u{E9}\"", "\"e\u{301}\"", "id"]) }
    private mutating func number() -> String { "\(random.below(3))" }
    private mutating func kind() -> String {
        random.pick(["", "INTEGER", "TEXT", "TEXT COLLATE NOCASE", "REAL", "BLOB", "VARCHAR(9) COLLATE RTRIM"])
    }
    private mutating func constraint() -> String {
        switch random.below(9) {
        case 0: return " NOT NULL DEFAULT \(number())"
        case 1: return " DEFAULT 'x'"
        case 2: return " DEFAULT 1.0"
        case 3: return " UNIQUE"
        case 4: return " REFERENCES \(table())(id)"
        case 5: return " CHECK (\(column()) <> 7)"
        default: return ""
        }
    }

    /// A column with its name.
    private mutating func definition() -> String { "\(column()) \(kind())\(constraint())" }

    /// The SQL of a table that an entity can have.
    package mutating func entityTable(_ name: String) -> String {
        """
        CREATE TABLE \(name)(
          id INTEGER PRIMARY KEY, p \(kind()), q \(kind()) DEFAULT \(number()), _position INTEGER NOT NULL DEFAULT 0)
        """
    }

    private mutating func newTable() -> String {
        let name = table()
        switch random.below(6) {
        case 0: return "CREATE TABLE \(name)(id INT NOT NULL PRIMARY KEY, p ANY, q INT DEFAULT 5) STRICT"
        case 1: return "CREATE TABLE \(name)(id TEXT PRIMARY KEY, \(definition())) WITHOUT ROWID"
        case 2: return "CREATE TABLE \(name)(id INTEGER PRIMARY KEY AUTOINCREMENT, p, q AS (p * 2), r AS (p) STORED)"
        case 3: return "CREATE TABLE \(name) AS SELECT * FROM \(table())"
        default: return entityTable(name)
        }
    }

    private mutating func trigger() -> String {
        let time = random.pick(["BEFORE INSERT", "AFTER DELETE", "AFTER UPDATE OF p"])
        return
            "CREATE TRIGGER t\(number()) \(time) ON \(table()) WHEN 0 BEGIN UPDATE \(table()) SET \(column()) = 1; END"
    }

    /// One change.
    package mutating func statement() -> String {
        switch random.below(31) {
        case 0, 1, 2, 3: return newTable()
        case 4: return "DROP TABLE \(table())"
        case 5, 6: return "ALTER TABLE \(table()) RENAME TO \(table())"
        case 7, 8, 9: return "ALTER TABLE \(table()) RENAME COLUMN \(column()) TO \(column())"
        case 10, 11, 12, 13, 14: return "ALTER TABLE \(table()) ADD COLUMN \(definition())"
        case 15: return "ALTER TABLE \(table()) ADD COLUMN \(column()) AS (id + \(number()))"
        case 16, 17: return "ALTER TABLE \(table()) DROP COLUMN \(column())"
        case 18: return "CREATE INDEX i\(number()) ON \(table())(\(column())) WHERE \(column()) > \(number())"
        case 19: return "CREATE UNIQUE INDEX i\(number()) ON \(table())(\(column()), \(column()) COLLATE NOCASE)"
        case 20: return "DROP INDEX i\(number())"
        case 21, 22: return trigger()
        case 23: return "DROP TRIGGER t\(number())"
        case 24: return "CREATE VIEW v\(number()) AS SELECT * FROM \(table()), \(table())"
        case 25: return "DROP VIEW v\(number())"
        case 26: return "CREATE VIRTUAL TABLE f\(number()) USING fts5(\(column()), p)"
        case 27: return "DROP TABLE f\(number())"
        case 28: return "CREATE TEMP TABLE \(table())(\(definition()))"
        case 29: return "DROP TABLE temp.\(table())"
        default: return "ANALYZE"
        }
    }
}
