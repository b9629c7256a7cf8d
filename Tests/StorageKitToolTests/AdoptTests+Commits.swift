import GRDB
import StorageLog
import StorageMaintenance
import TestSupport
import Testing

/// The commits that a large database takes.
extension AdoptTests {
    private struct AdoptedStore {
        let folder: TemporaryFolder
        let path: String
        let commits: Int

        /// Adopts a database that statements make.
        init(_ sql: String) throws {
            folder = try TemporaryFolder()
            path = folder.path("app.sqlite")
            let database = try Self.makeDatabase(sql, in: folder)
            let outcome = try ToolProcess.run(["adopt", database, "-s", path], store: nil)
            try #require(outcome.status == 0, "\(outcome)")
            commits = try Self.commits(of: path)
        }

        /// Adopts one whose commits are smaller.
        init(_ sql: String, limits: AdoptionLimits) async throws {
            folder = try TemporaryFolder()
            path = folder.path("app.sqlite")
            let database = try Self.makeDatabase(sql, in: folder)
            let adoption = DatabaseAdoption(database, tables: [], metadata: CommitMetadata(), limits: limits)
            _ = try await adoption.run(to: path, replacing: false)
            commits = try Self.commits(of: path)
        }

        private static func makeDatabase(_ sql: String, in folder: TemporaryFolder) throws -> String {
            let database = folder.path("plain.db")
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: database, configuration: configuration)
            try queue.inDatabase { try $0.execute(sql: sql) }
            try queue.close()
            return database
        }

        private static func commits(of store: String) throws -> Int {
            let log = try ToolProcess.run(["log", "--format", "jsonl"], store: store)
            return log.output.split(separator: "\n").count
        }
    }

    /// The numbers from 1 on.
    private static func numbers(_ count: Int) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    /// Every day, commits are small; otherwise they are as large as they may be.
    private static var limits: AdoptionLimits {
        var limits = AdoptionLimits()
        if testScale <= 1 { (limits.rows, limits.values, limits.rowsPerStep) = (100, 1_000, 8) }
        return limits
    }

    /// More rows than a commit takes, and fewer than two take.
    private static let rowCount = testScale > 1 ? 66_000 : 150

    /// The table whose rows refer to others comes first by its name.
    @Test("Rows come after those that they refer to")
    func referredRowsFirst() async throws {
        let schema = """
            CREATE TABLE parents(id INTEGER PRIMARY KEY, v);
            CREATE TABLE children(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents);
            """
        let store = try await AdoptedStore(
            """
            \(schema)
            INSERT INTO parents VALUES (1, 'a');
            \(Self.numbers(Self.rowCount)) INSERT INTO children SELECT i, 1 FROM n;
            """, limits: Self.limits)
        #expect(store.commits == 2)
        let restored = try ToolProcess.run(
            ["restore", store.path, "--to", "t:1", "-o", store.folder.path("first.sqlite")], store: nil)
        #expect(restored.status == 0, "\(restored)")
        let other = try AdoptedStore(schema)
        let imported = try ToolProcess.shell(
            "storagekit export -s '\(store.path)' | storagekit import -s '\(other.path)' --yes -", store: nil)
        #expect(imported.status == 0, "\(imported)")
    }

    @Test(
        "Rows that can refer to one another are in one commit",
        arguments: [
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, other INTEGER REFERENCES t);
            \(numbers(rowCount)) INSERT INTO t SELECT i, \(rowCount + 1) - i FROM n;
            """,
            """
            CREATE TABLE a(id INTEGER PRIMARY KEY, other INTEGER REFERENCES b);
            CREATE TABLE b(id INTEGER PRIMARY KEY, other INTEGER REFERENCES a);
            \(numbers(rowCount * 2 / 3)) INSERT INTO a SELECT i, i FROM n;
            \(numbers(rowCount * 2 / 3)) INSERT INTO b SELECT i, i FROM n;
            """,
        ])
    func cyclicReferences(sql: String) async throws {
        #expect(try await AdoptedStore(sql, limits: Self.limits).commits == 1)
    }

    @Test("Rows with large values take several commits")
    func largeValues() throws {
        let store = try AdoptedStore(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v BLOB);
            \(Self.numbers(70)) INSERT INTO t SELECT i, zeroblob(1000000) FROM n;
            """)
        #expect(store.commits == 3)
    }

    /// The definitions of columns without a type.
    private static func columns(_ count: Int) -> String { (1...count).map { "c\($0)" }.joined(separator: ", ") }

    @Test(
        "A commit is limited by the values of its rows, whichever tables they are of",
        arguments: [
            // A narrow table with many rows and a wide one with few, which refer to each other.
            (
                """
                CREATE TABLE a(id INTEGER PRIMARY KEY, other INTEGER REFERENCES b);
                CREATE TABLE b(id INTEGER PRIMARY KEY, other INTEGER REFERENCES a, \(columns(62)));
                \(numbers(200)) INSERT INTO a SELECT i, 1 FROM n;
                \(numbers(5)) INSERT INTO b(id, other) SELECT i, 200 FROM n;
                """, 1
            ),
            // Rows of another table before those that refer to one another.
            (
                """
                CREATE TABLE plain(id INTEGER PRIMARY KEY, v);
                CREATE TABLE tree(id INTEGER PRIMARY KEY, other INTEGER REFERENCES tree, \(columns(38)));
                \(numbers(90)) INSERT INTO plain SELECT i, i FROM n;
                \(numbers(24)) INSERT INTO tree(id, other) SELECT i, 25 - i FROM n;
                """, 1
            ),
            (
                """
                CREATE TABLE tree(id INTEGER PRIMARY KEY, other INTEGER REFERENCES tree, \(columns(38)));
                \(numbers(56)) INSERT INTO tree(id, other) SELECT i, 57 - i FROM n;
                """, 2
            ),
            (
                """
                CREATE TABLE plain(id INTEGER PRIMARY KEY, \(columns(39)));
                \(numbers(56)) INSERT INTO plain(id) SELECT i FROM n;
                """, 2
            ),
        ])
    func valuesOfCommits(sql: String, commits: Int) async throws {
        var limits = AdoptionLimits()
        (limits.rows, limits.values, limits.rowsPerStep) = (100, 1_000, 8)
        #expect(try await AdoptedStore(sql, limits: limits).commits == commits)
    }
}
