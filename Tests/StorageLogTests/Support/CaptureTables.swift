import GRDB
import SchemaTestSupport

@testable import StorageLog

/// Tables with everything that makes capture hard: keys of every kind, constraints, foreign keys, triggers.
enum CaptureTables {
    static let entities: [(name: String, sql: String)] = [
        (
            "item",
            """
            CREATE TABLE item(
              id INTEGER PRIMARY KEY, a, t TEXT, r REAL, n NUMERIC CHECK (n IS NOT 7), u INTEGER UNIQUE,
              _position INTEGER NOT NULL DEFAULT 0)
            """
        ),
        (
            "pair",
            """
            CREATE TABLE pair(
              x TEXT NOT NULL, y NOT NULL, v, w BLOB, _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (x, y))
            """
        ),
        (
            "child",
            """
            CREATE TABLE child(
              id TEXT NOT NULL PRIMARY KEY, item INTEGER REFERENCES item(id) ON DELETE CASCADE ON UPDATE CASCADE, v,
              _position INTEGER NOT NULL DEFAULT 0)
            """
        ),
        (
            "node",
            """
            CREATE TABLE node(
              id NOT NULL PRIMARY KEY, parent REFERENCES node(id) ON DELETE CASCADE ON UPDATE CASCADE,
              item INTEGER REFERENCES item(id) ON DELETE SET NULL ON UPDATE SET NULL,
              _position INTEGER NOT NULL DEFAULT 0)
            """
        ),
        (
            "audit",
            """
            CREATE TABLE audit(
              id INTEGER PRIMARY KEY AUTOINCREMENT, what, _position INTEGER NOT NULL DEFAULT 0)
            """
        ),
    ]

    static let rest = """
        CREATE TABLE scratch(value);
        CREATE TRIGGER item_inserted AFTER INSERT ON item WHEN new.id % 2 = 0
        BEGIN INSERT INTO audit(what) VALUES (new.a); END;
        CREATE TRIGGER item_updated AFTER UPDATE OF a ON item
        BEGIN INSERT INTO audit(what) VALUES (old.a), (new.a); END;
        CREATE TRIGGER pair_deleted BEFORE DELETE ON pair
        BEGIN INSERT OR IGNORE INTO child(id, v) VALUES (old.x, old.v); END;
        CREATE TRIGGER item_fails BEFORE INSERT ON item WHEN new.t = 'raise fail'
        BEGIN SELECT RAISE(FAIL, 'fail'); END;
        CREATE TRIGGER item_aborts AFTER INSERT ON item WHEN new.t = 'raise abort'
        BEGIN SELECT RAISE(ABORT, 'abort'); END;
        CREATE TRIGGER item_ignores BEFORE INSERT ON item WHEN new.t = 'raise ignore'
        BEGIN SELECT RAISE(IGNORE); END;
        CREATE TRIGGER update_fails BEFORE UPDATE OF t ON item WHEN new.t = 'raise fail' AND new.id > 1
        BEGIN SELECT RAISE(FAIL, 'fail'); END;
        CREATE TRIGGER update_aborts AFTER UPDATE OF t ON item WHEN new.t = 'raise abort' AND new.id > 1
        BEGIN SELECT RAISE(ABORT, 'abort'); END;
        CREATE TRIGGER touches AFTER UPDATE OF t ON item WHEN new.t = 'touch pairs'
        BEGIN UPDATE pair SET v = new.id; DELETE FROM node WHERE item = new.id; END;
        CREATE TRIGGER adds BEFORE UPDATE OF t ON item WHEN new.t = 'add item'
        BEGIN INSERT OR REPLACE INTO item(id, a, u) VALUES (new.id + 1, 'added', new.id); END;
        """

    static func make(in writer: LogWriter, _ db: Database) throws {
        for entity in entities { try writer.adopt(db, entity.name, entity.sql) }
        try db.execute(sql: rest)
    }
}
