import Foundation
import GRDB
import TestSupport
import Testing

/// A user's virtual tables refer to rows by their rowids, which the log doesn't have.
struct KeptRowidsTests {
    /// The second and the third are filled without constraints first: one has a foreign key, the other a CHECK that contains its name.
    private static let tables = ["notes", "comments", "words"]

    /// A store whose tables have full-text indexes that triggers fill, and rowids with a gap.
    private func adopted(in folder: TemporaryFolder) throws -> String {
        let (database, store) = (folder.path("plain.db"), folder.path())
        let queue = try DatabaseQueue(path: database)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE notes(id TEXT PRIMARY KEY, body, mark);
                    CREATE TABLE comments(id TEXT PRIMARY KEY, body, mark, note TEXT REFERENCES notes(id));
                    CREATE TABLE words(id TEXT PRIMARY KEY, body, mark, CHECK (words.body <> ''))
                    """)
            for table in Self.tables {
                let index = "\(table)_fts"
                let insert = "INSERT INTO \(index)(rowid, body) VALUES (new.rowid, new.body);"
                let delete = "INSERT INTO \(index)(\(index), rowid, body) VALUES ('delete', old.rowid, old.body);"
                try db.execute(
                    sql: """
                        CREATE VIRTUAL TABLE \(index) USING fts5(body, content=\(table));
                        CREATE TRIGGER \(table)_insert AFTER INSERT ON \(table) BEGIN \(insert) END;
                        CREATE TRIGGER \(table)_delete AFTER DELETE ON \(table) BEGIN \(delete) END;
                        CREATE TRIGGER \(table)_update AFTER UPDATE ON \(table) BEGIN \(delete) \(insert) END;
                        INSERT INTO \(table)(id, body) VALUES ('a', 'apple'), ('b', 'banana'), ('c', 'cherry'), ('d', 'date');
                        DELETE FROM \(table) WHERE id = 'b';
                        """)
            }
        }
        try queue.close()
        let outcome = try ToolProcess.run(["adopt", database, "-s", store], store: nil)
        #expect(outcome.status == 0, "\(outcome)")
        return store
    }

    private func rowids(_ store: String) throws -> [[String]] {
        try DatabaseQueue(path: store).read { db in
            try Self.tables.map { table in
                try String.fetchAll(db, sql: "SELECT rowid || ' ' || id || ' ' || body FROM \(table) ORDER BY rowid")
            }
        }
    }

    /// Checks that each index finds the rows that have a word, and no others.
    private func expectSoundIndexes(_ store: String) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.write { db in
            for table in Self.tables {
                let words = try String.fetchAll(db, sql: "SELECT body FROM \(table)")
                for word in words {
                    let found = try String.fetchAll(
                        db, sql: "SELECT body FROM \(table)_fts WHERE \(table)_fts MATCH ?", arguments: [word])
                    #expect(found == [word])
                }
                // Fails if the index and the table differ.
                try db.execute(sql: "INSERT INTO \(table)_fts(\(table)_fts, rank) VALUES ('integrity-check', 1)")
            }
        }
        try queue.close()
    }

    private func edit(_ store: String, _ statements: [String]) throws {
        let queue = try DatabaseQueue(path: store)
        try queue.write { db in
            for table in Self.tables {
                for statement in statements { try db.execute(sql: statement.replacing("TABLE", with: table)) }
            }
        }
        try queue.close()
    }

    @Test(
        "A rebuild keeps the rowids of rows",
        arguments: [["rebuild"], ["rebuild", "notes", "comments", "words", "--keep"]])
    func rebuild(arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let store = try adopted(in: folder)
        let before = try rowids(store)
        let outcome = try ToolProcess.run(arguments, store: store)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try rowids(store) == before)
        try expectSoundIndexes(store)
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    @Test("A repair keeps the rowids of rows")
    func repair() throws {
        let folder = try TemporaryFolder()
        let store = try adopted(in: folder)
        let before = try rowids(store)
        try edit(store, ["UPDATE TABLE SET mark = 1 WHERE id = 'c'"])
        let outcome = try ToolProcess.run(["doctor", "--fix", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try rowids(store) == before)
        try expectSoundIndexes(store)
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    @Test("Recorded rows keep the rowids that another program has given them")
    func record() throws {
        let folder = try TemporaryFolder()
        let store = try adopted(in: folder)
        try edit(
            store,
            [
                "DELETE FROM TABLE WHERE id = 'a'", "UPDATE TABLE SET body = 'cranberry' WHERE id = 'c'",
                "INSERT INTO TABLE(rowid, id, body) VALUES (2, 'h', 'hazelnut'), (90, 'g', 'grape')",
            ])
        let before = try rowids(store)
        let outcome = try ToolProcess.run(["record", "--yes"], store: store)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try rowids(store) == before)
        try expectSoundIndexes(store)
        #expect(try ToolProcess.run(["verify"], store: store).status == 0)
    }

    @Test("A restored store has the rowids of its source")
    func restore() throws {
        let folder = try TemporaryFolder()
        let store = try adopted(in: folder)
        let before = try rowids(store)
        let copy = folder.path("copy.sqlite")
        let outcome = try ToolProcess.run(["restore", store, "-o", copy], store: nil)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try rowids(copy) == before)
        try expectSoundIndexes(copy)
    }

    /// Nothing refers to those: the index doesn't have the row.
    @Test("A row that comes back has a rowid that no other had")
    func restoreDeleted() throws {
        let folder = try TemporaryFolder()
        let store = try adopted(in: folder)
        let deleted = try ToolProcess.run(["exec", "DELETE FROM notes WHERE id = 'd'", "--yes"], store: store)
        #expect(deleted.status == 0, "\(deleted)")
        let copy = folder.path("copy.sqlite")
        let outcome = try ToolProcess.run(["restore", store, "--to", "head~1", "-o", copy], store: nil)
        #expect(outcome.status == 0, "\(outcome)")
        let found = try DatabaseQueue(path: copy).read { db in
            try Int64.fetchAll(db, sql: "SELECT rowid FROM notes WHERE id IN ('a', 'c') ORDER BY rowid")
                + Int64.fetchAll(db, sql: "SELECT min(rowid, 4) FROM notes WHERE id = 'd'")
        }
        #expect(found == [1, 3, 4])
    }
}
