package import GRDB
internal import StorageCore
package import StorageLog

/// Tables with what makes the rules of SQLite odd: collations, STRICT, clauses for conflicts, keys of several parts, and foreign
/// keys and triggers between them.
package enum HostileTables {
    package struct Table: Sendable {
        package let name: String
        package let key: [String]
        package let columns: [String]
        package let sql: String
    }

    package static let all = [
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

    package static let triggers = """
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

extension LogWriter {
    /// Makes a table by SQL and enters it in the catalog as the declaration of an entity would, so that tests can have
    /// every kind of table that SQLite knows.
    package func adopt(_ db: Database, _ name: String, _ sql: String) throws {
        try db.execute(sql: sql)
        var next = catalog.nextId
        var entity = CatalogEntity(id: next, name: name, stored: name, columns: [])
        for row in try Row.fetchAll(db, sql: "SELECT * FROM pragma_table_info(?)", arguments: [name]) {
            let column: String = row["name"]
            guard column != "_position" else { continue }
            next += 1
            entity.columns.append(
                CatalogColumn(
                    id: next, name: column, type: row["type"], keyOrdinal: row["pk"], required: row["notnull"]))
        }
        record(entity)
        try schemaChanged()
    }
}
