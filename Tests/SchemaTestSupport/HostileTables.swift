/// Tables with what makes the rules of SQLite odd: collations, STRICT, clauses for conflicts, keys of several parts, and foreign
/// keys and triggers between them.
enum HostileTables {
    struct Table: Sendable {
        let name: String
        let key: [String]
        let columns: [String]
        let sql: String
    }

    static let all = [
        Table(
            name: "person", key: ["name"], columns: ["name", "nick", "n"],
            sql: """
                CREATE TABLE person(
                  name TEXT COLLATE NOCASE NOT NULL PRIMARY KEY, nick TEXT COLLATE RTRIM UNIQUE, n,
                  _position INTEGER NOT NULL DEFAULT 0)
                """),
        Table(
            name: "box", key: ["id"], columns: ["id", "p", "q", "r"],
            sql: """
                CREATE TABLE box(
                  id INTEGER PRIMARY KEY, p ANY, q TEXT COLLATE NOCASE UNIQUE ON CONFLICT REPLACE, r REAL,
                  _position INT NOT NULL DEFAULT 0) STRICT
                """),
        Table(
            name: "tally", key: ["k"], columns: ["k", "v"],
            sql: """
                CREATE TABLE tally(
                  k ANY NOT NULL PRIMARY KEY ON CONFLICT REPLACE, v INT CHECK (v IS NOT 7),
                  _position INT NOT NULL DEFAULT 0) STRICT
                """),
        Table(
            name: "pair", key: ["a", "b"], columns: ["a", "b", "v"],
            sql: """
                CREATE TABLE pair(
                  a TEXT COLLATE RTRIM NOT NULL, b REAL NOT NULL, v UNIQUE ON CONFLICT IGNORE,
                  _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (a, b))
                """),
        Table(
            name: "part", key: ["id"], columns: ["id", "owner", "box", "note"],
            sql: """
                CREATE TABLE part(
                  id INTEGER PRIMARY KEY,
                  owner TEXT REFERENCES person(name) ON DELETE CASCADE ON UPDATE CASCADE,
                  box INTEGER REFERENCES box(id) ON DELETE SET NULL ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED,
                  note TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'none', _position INTEGER NOT NULL DEFAULT 0)
                """),
    ]

    static let triggers = """
        CREATE TRIGGER person_ignored BEFORE INSERT ON person WHEN new.n = 'ignore'
        BEGIN SELECT RAISE(IGNORE); END;
        CREATE TRIGGER box_fails AFTER UPDATE OF p ON box WHEN new.p = 'fail' AND new.id % 2
        BEGIN SELECT RAISE(FAIL, 'fail'); END;
        CREATE TRIGGER box_aborts AFTER INSERT ON box WHEN new.p = 'abort'
        BEGIN SELECT RAISE(ABORT, 'abort'); END;
        CREATE TRIGGER part_counts AFTER DELETE ON part
        BEGIN INSERT INTO tally(k, v) VALUES (old.note, old.id); END;
        CREATE TRIGGER person_moves AFTER UPDATE OF name ON person
        BEGIN UPDATE pair SET v = new.name WHERE a = old.name; END;
        """
}
