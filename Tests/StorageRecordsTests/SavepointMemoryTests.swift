import CSQLite
import StorageCore
import TestSupport
import Testing

@testable import StorageRecords

/// The pages that savepoints and statements restore are kept in memory by a VFS.
@Suite struct SavepointMemoryTests {
    private static let rows: Int64 = 400

    /// A table with rows on some hundred pages, which refer to others.
    private func makeDatabase(_ path: String) throws -> Connection {
        storage_configure_process()
        let database = try Connection(
            opening: path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, orFailWith: "can't open")
        try database.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
            CREATE TABLE artists (id INTEGER PRIMARY KEY); INSERT INTO artists VALUES (0), (1), (2);
            CREATE TABLE albums (id INTEGER PRIMARY KEY, artist INTEGER REFERENCES artists (id), title TEXT);
            WITH RECURSIVE ids (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids LIMIT \(Self.rows))
            INSERT INTO albums SELECT id, 0, printf('%0900d', id) FROM ids
            """)
        return database
    }

    private func titles(_ database: Connection) throws -> [String] {
        var titles: [String] = []
        let statement = try PreparedStatement(database, "SELECT artist || ' ' || title FROM albums ORDER BY id")
        while try statement.step() { titles.append(statement.string(0)) }
        return titles
    }

    @Test("Rolling back restores every row, at any depth", arguments: testSeeds(3))
    func undo(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = try TemporaryFolder()
        let database = try makeDatabase(folder.path())
        defer { database.close() }
        var states = [try titles(database)]
        try database.execute("BEGIN")
        for number in 0..<300 {
            let id = Int64.random(in: 0..<Self.rows - 20, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                states.append(try titles(database))
                try database.execute("SAVEPOINT s\(states.count)")
            case 1 where states.count > 1:
                try database.execute("ROLLBACK TO s\(states.count); RELEASE s\(states.count)")
                let before = states.removeLast()
                #expect(try titles(database) == before, "change \(number)")
            case 2 where states.count > 1:
                try database.execute("RELEASE s\(states.count)")
                states.removeLast()
            case 3:
                // Fails for its last row, and is undone alone.
                let before = try titles(database)
                #expect(throws: StorageError.self) {
                    try database.execute(
                        """
                        UPDATE albums SET title = title || '.', artist = iif(id = \(id) + 20, 9, 1)
                        WHERE id BETWEEN \(id) AND \(id) + 20
                        """)
                }
                #expect(try titles(database) == before, "change \(number)")
            default:
                try database.execute(
                    """
                    UPDATE albums SET artist = \(number % 3), title = printf('%0\(800 + number % 200)d', id)
                    WHERE id % \(id % 60 + 1) = 0
                    """)
            }
        }
        try database.execute("ROLLBACK")
        #expect(try titles(database) == states[0])
    }

    @Test("The VFS is the process's default, also if SQLite was already initialized")
    func isDefault() throws {
        sqlite3_initialize()
        storage_configure_process()
        let vfs = try #require(sqlite3_vfs_find(nil))
        #expect(String(cString: vfs.pointee.zName) == "storagekit")
    }
}
