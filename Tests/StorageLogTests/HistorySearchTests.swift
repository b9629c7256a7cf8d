import CSQLite
import Foundation
import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog

/// Tables of history read the events that a query's conditions leave, and answer as if they had read all.
@Suite struct HistorySearchTests {
    /// Every row of a statement, its values quoted.
    private static func rows(_ statement: PreparedStatement) throws -> [String] {
        var rows: [String] = []
        let count = sqlite3_column_count(statement.pointer)
        while try statement.step() {
            rows.append((0..<count).map { "\(ExactValue(statement, column: $0))" }.joined(separator: " | "))
        }
        return rows
    }

    /// Copies of the tables of history, made from all events: plain tables, which SQLite searches itself.
    private static func makeCopies(_ source: Connection) throws -> [HistoryTable] {
        let tables = try HistoryTableInstaller(source).tables
        for table in tables {
            let all = try HistoryTableInstaller(source).statement(for: "SELECT * FROM \(quoted(table.name))")
            let name = "temp.\(quoted("copy_\(table.name)"))"
            try source.execute("CREATE TABLE \(name)(\(table.definitions.joined(separator: ", ")))")
            let insert = try PreparedStatement(
                source, "INSERT INTO \(name) VALUES (\(table.columns.map { _ in "?" }.joined(separator: ", ")))")
            while try all.step() {
                for column in table.columns.indices {
                    ExactValue(all, column: Int32(column)).bind(to: insert, at: Int32(column + 1))
                }
                try insert.execute()
            }
        }
        return tables
    }

    // MARK: Random conditions

    /// Writes conditions about a table whose rows it knows.
    private struct Conditions {
        var random: SplitMix64
        let table: HistoryTable
        let samples: [[ExactValue]]

        private mutating func literal(_ value: ExactValue) -> String {
            switch value {
            case .null: return "NULL"
            case .integer(let value):
                return random.pick(["\(value)", "\(value)", "\(value).0", "'\(value)'", "CAST('\(value)' AS INTEGER)"])
            case .real(let bits):
                let value = Double(bitPattern: bits)
                return value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
            case .text(let bytes):
                let text = "CAST(x'\(bytes.map { String(format: "%02x", $0) }.joined())' AS TEXT)"
                let plain = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "'", with: "''")
                return Int64(plain) != nil && random.chance(30) ? plain : plain.contains("\0") ? text : "'\(plain)'"
            case .blob(let bytes): return "x'\(bytes.map { String(format: "%02x", $0) }.joined())'"
            }
        }

        private mutating func comparison(with column: Int, in name: String) -> String {
            let value = samples.isEmpty ? .integer(1) : random.pick(samples)[column]
            let quotedName = "\(name).\(quoted(table.columns[column]))"
            switch table.role(of: column) {
            case .position, .commit, .time:
                let other = random.pick(samples.isEmpty ? [[value]] : samples).count > column ? literal(value) : "1"
                return random.chance(15)
                    ? "\(quotedName) BETWEEN \(literal(value)) AND \(literal(value)) + 9"
                    : "\(quotedName) \(random.pick(["=", "<", "<=", ">", ">=", "IS"])) \(other)"
            default:
                guard random.chance(30) else { return "\(quotedName) \(random.pick(["=", "IS"])) \(literal(value))" }
                // Of another column, with its affinity.
                let other = quoted(random.pick(table.columns))
                if random.chance(30), !samples.isEmpty {
                    let values = (0...random.below(6)).map { _ in literal(random.pick(samples)[column]) }
                    return "\(quotedName) IN (\(values.joined(separator: ", ")))"
                }
                return random.chance(50)
                    ? "\(quotedName) IN (SELECT \(other) FROM \(quoted("copy_\(table.name)")))"
                    : "\(quotedName) IN (\(literal(value)), \(literal(random.pick(samples.isEmpty ? [[]] : samples).last ?? .null)))"
            }
        }

        /// A query about the table, and the same about its copy.
        mutating func query() -> (history: String, copy: String) {
            let columns = table.columns.indices.filter { table.role(of: $0) != .changed }
            var terms = (0...random.below(2)).map { _ in comparison(with: random.pick(columns), in: "h") }
            if random.chance(60) {
                terms += columns.filter { if case .key = table.role(of: $0) { true } else { false } }.map {
                    comparison(with: $0, in: "h")
                }
            }
            if random.chance(10) { terms.append("h.rowid > \(random.below(40))") }
            let shown =
                random.chance(50)
                ? "h.*"
                : (0...random.below(3)).map { _ in "h.\(quoted(table.columns[random.pick(columns)]))" }
                    .joined(separator: ", ")
            let order = random.chance(40) ? " DESC" : ""
            let joined = random.chance(25)
            let column = quoted(table.columns[random.pick(columns)])
            func query(_ name: String) -> String {
                let from =
                    joined
                    ? "\(quoted("copy_\(table.name)")) o JOIN \(quoted(name)) h ON h.\(column) = o.\(column)"
                    : "\(quoted(name)) h"
                return """
                    SELECT \(shown) FROM \(from) WHERE \(terms.joined(separator: " AND "))
                    ORDER BY \(joined ? "o.\(quoted(table.columns[0])), " : "")h.\(quoted(table.columns[0]))\(order)
                    """
            }
            return (query(table.name), query("copy_\(table.name)"))
        }
    }

    @Test("A search finds what reading all events finds", arguments: testSeeds(2))
    func sameAsAll(seed: UInt64) async throws {
        let (engine, _) = try await NetDifferenceTests.history(seed, changesShapes: seed % 2 == 0)
        try await engine.withWriter { writer, _ in
            let source = writer.database
            for table in try Self.makeCopies(source) {
                let samples = try PreparedStatement(source, "SELECT * FROM \(quoted("copy_\(table.name)")) LIMIT 200")
                var known: [[ExactValue]] = []
                while try samples.step() {
                    known.append(table.columns.indices.map { ExactValue(samples, column: Int32($0)) })
                }
                var conditions = Conditions(random: SplitMix64(seed: seed), table: table, samples: known)
                for _ in 0..<(testScale > 1 ? 40 : 14) {
                    let query = conditions.query()
                    let expected = try Self.rows(PreparedStatement(source, query.copy))
                    let tables = try HistoryTableInstaller(source)
                    let found = try Self.rows(tables.statement(for: query.history))
                    #expect(found == expected, "seed \(seed): \(query.history)")
                }
            }
        }
        try await engine.close()
    }

    // MARK: What is read

    /// 200 commits, an event each, of ten rows; each row of the log holds the events of 20.
    private func open() async throws -> StorageEngine {
        let engine = try TestStore.inMemory(segmentLength: 20)
        try await engine.adopt(
            "posts",
            "CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT, views INTEGER, _position INTEGER NOT NULL DEFAULT 0)"
        )
        for round in 0..<200 {
            let sql =
                round < 10
                ? "INSERT INTO posts(id, title, views) VALUES (\(round), 'post \(round)', 0)"
                : round % 50 == 40
                    ? "DELETE FROM posts WHERE id = \(round % 10)"
                    : "UPDATE posts SET views = \(round) WHERE id = \(round % 10)"
            let undelete = "INSERT OR IGNORE INTO posts(id, title, views) VALUES (\(round % 10), 'again', 0);"
            _ = try await engine.commit(
                round % 50 == 40 || round < 10 ? sql : undelete + sql, CommitMetadata(actor: "actor \(round % 4)"))
        }
        try await engine.seal()
        return engine
    }

    /// Events that aren't read can't be missed: their values are damaged.
    @Test("Events that the conditions leave out aren't read")
    func leftOut() async throws {
        let engine = try await open()
        try await engine.withWriter { writer, _ in
            let source = writer.database
            func answer(_ sql: String) throws -> [String] {
                let tables = try HistoryTableInstaller(source)
                do { return try Self.rows(tables.statement(for: sql)) } catch { throw tables.failure ?? error }
            }
            let queries = [
                "SELECT * FROM history_posts WHERE _position > 150",
                "SELECT id, _until FROM history_posts WHERE _commit >= 150 AND _op = 'update'",
                "SELECT * FROM history_posts WHERE _position BETWEEN 160 AND 165 AND id = 3",
                "SELECT * FROM changes_posts WHERE _position >= 150 AND _actor = 'actor 1'",
                "SELECT * FROM history_posts WHERE _commit IN (155, 160, NULL, 171.0)",
                "SELECT * FROM changes_posts WHERE _commit IN (SELECT 190 + value FROM json_each('[1,5]'))",
                "SELECT new_views FROM changes_posts WHERE id = 4 AND _position > 150 ORDER BY _position DESC",
                "SELECT * FROM commits WHERE number = 171",
                "SELECT * FROM commits WHERE number > 160 AND actor = 'actor 1'",
            ]
            let before = try queries.map(answer)
            #expect(before.allSatisfy { !$0.isEmpty })
            source.setTriggersEnabled(false)
            // Others are compressed with the help of some of these.
            try source.execute(
                """
                UPDATE storage_log SET body = substr(body, 1, 40) || zeroblob(60)
                WHERE last < 140 AND position NOT IN (SELECT base FROM storage_log)
                """)
            #expect(source.changes > 0)
            #expect(try queries.map(answer) == before)
            for sql in [
                "SELECT * FROM history_posts", "SELECT * FROM changes_posts WHERE _position < 140",
                "SELECT * FROM commits",
            ] {
                let error = #expect(throws: StorageError.self) { try answer(sql) }
                #expect(error?.code == .corrupt, "\(sql): \(error.map(String.init(describing:)) ?? "")")
            }
        }
        try await engine.close()
    }

    /// Long logs have versions in their middle, for which neither what is before nor what follows is read.
    @Test("Versions are the same, read from their own events or from all", arguments: testSeeds(4))
    func versionsAlone(seed: UInt64) async throws {
        let (engine, _) = try await NetDifferenceTests.history(seed, changesShapes: seed % 2 == 0)
        try await engine.withWriter { writer, _ in
            let source = writer.database
            let log = LogReader(source)
            let head = try log.head().position
            for table in try Self.makeCopies(source) where table.kind == .history {
                let entity = try #require(table.entity)
                // Converted values are only in the store's tables.
                guard entity.live.allSatisfy({ $0.definition.isEmpty }) else { continue }
                let scratch = try ScratchTables()
                let rows = try HistoryRowBuffer(table, in: scratch.database, number: 1)
                let reader = HistoryRowReader(rows, of: entity, log)
                var events: [RowEvent] = []
                let query = LogQuery(positions: 1...head, tables: [entity.name])
                try log.forEachEvent(query, catalog: Catalog.load(source)) { batch, index, commit in
                    let position = batch.header.first + Int64(index)
                    let event = batch.withView { RowEvent($0, at: index, position: position, commit: commit) }
                    if event.row.entity == entity.id { events.append(event) }
                    return true
                }
                for event in events {
                    let isAdded = try reader.addVersions(of: [event], through: head, needsUntil: true, lookups: 1_000)
                    #expect(isAdded, "seed \(seed): \(table.name) @\(event.position)")
                }
                let reading = try rows.read(descending: false)
                let found = try withExtendedLifetime(reading) { try Self.rows(reading.statement) }
                let copy = try PreparedStatement(source, "SELECT * FROM \(quoted("copy_\(table.name)")) ORDER BY 1")
                #expect(try found == Self.rows(copy), "seed \(seed): \(table.name)")
            }
        }
        try await engine.close()
    }

    @Test("Of a long log, only the neighbours of a version are read")
    func versionInLongLog() async throws {
        let engine = try TestStore.inMemory(segmentLength: 100)
        try await engine.adopt(
            "counters", "CREATE TABLE counters(id INTEGER PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)"
        )
        _ = try await engine.commit("INSERT INTO counters(id, n) VALUES (1, 0)")
        for round in 0..<100 {
            let updates = (1...100).map { "UPDATE counters SET n = \(round * 100 + $0) WHERE id = 1" }
            _ = try await engine.commit(updates.joined(separator: ";"))
        }
        try await engine.seal()
        try await engine.withWriter { writer, _ in
            let source = writer.database
            func answer(_ condition: String) throws -> [String] {
                let tables = try HistoryTableInstaller(source)
                let sql = "SELECT n, _until - _position FROM history_counters WHERE \(condition)"
                do { return try Self.rows(tables.statement(for: sql)) } catch { throw tables.failure ?? error }
            }
            let middle = "_position = (SELECT _position - 5000 FROM counters)"
            let before = try answer(middle)
            #expect(before.count == 1)
            source.setTriggersEnabled(false)
            try source.execute(
                """
                UPDATE storage_log SET body = substr(body, 1, 40) || zeroblob(60)
                WHERE (last < 4000 OR position BETWEEN 7000 AND 9000) AND position NOT IN (SELECT base FROM storage_log)
                """)
            #expect(source.changes > 0)
            #expect(try answer(middle) == before)
            #expect(throws: StorageError.self) { try answer("_position > 0") }
        }
        try await engine.close()
    }

    @Test("The plan names the conditions that choose events")
    func plans() async throws {
        let engine = try await open()
        try await engine.withWriter { writer, _ in
            func plan(_ sql: String) throws -> (String, [String]) {
                let plan = try HistoryTableInstaller(writer.database).plan(for: sql)
                return (plan.steps.map(\.detail).joined(separator: "; "), plan.whole)
            }
            let byKey = try plan("SELECT * FROM history_posts WHERE id = 4 AND _position > 7")
            #expect(byKey.0.hasSuffix("history_posts by id = ? and _position > ?"))
            #expect(byKey.1 == [])
            let byNumber = try plan("SELECT * FROM commits WHERE number = 7")
            #expect(byNumber.0.hasSuffix("commits by number = ?"))
            #expect(byNumber.1 == [])
            #expect(try plan("SELECT count(*) FROM storage_commits").1 == ["storage_commits"])
            let whole = try plan("SELECT count(*) FROM history_posts WHERE views > 7")
            #expect(whole.0.hasSuffix("history_posts from all events"))
            #expect(whole.1 == ["history_posts"])
            #expect(
                try plan("SELECT * FROM changes_posts WHERE _time >= '2024'").0.hasSuffix("changes_posts by _time >= ?")
            )
            #expect(
                try plan("SELECT * FROM changes_posts WHERE _actor IN ('a', 'b')").0.hasSuffix(
                    "changes_posts by _actor IN (?)"))
        }
        try await engine.close()
    }

    /// An enemy's choice of values: each pair is equal for SQL, or isn't, by rules of its own.
    @Test("Keys and actors are compared as SQLite compares columns")
    func affinities() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt("nums", "CREATE TABLE nums(n INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.adopt("texts", "CREATE TABLE texts(id TEXT PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.adopt("any", "CREATE TABLE any(k PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.adopt("reals", "CREATE TABLE reals(r REAL PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        _ = try await engine.commit(
            """
            INSERT INTO nums(n) VALUES (42), (0), (1000000000000000000);
            INSERT INTO texts(id) VALUES ('042'), ('42'), ('42.0'), ('x');
            INSERT INTO any(k) VALUES (42), ('42'), (-0.0), (7.0);
            INSERT INTO reals(r) VALUES (0.0), (42);
            """, CommitMetadata(actor: "42"))
        try await engine.withWriter { writer, _ in
            func count(_ from: String) throws -> Int64 { try rowCount(of: from, in: writer.database) }
            #expect(try count("history_nums WHERE n = '1e18'") == 1)
            #expect(try count("history_nums WHERE n = 1e18") == 1)
            #expect(try count("history_texts WHERE id = 42") == 1)
            #expect(try count("history_texts WHERE id = '042'") == 1)
            #expect(try count("history_texts WHERE id = CAST(42 AS INTEGER)") == 3)
            #expect(try count("history_texts WHERE id IN (SELECT n FROM nums)") == 3)
            #expect(try count("history_texts WHERE id IN (42, 'x')") == 2)
            #expect(try count("history_texts WHERE id IN ('042', 'x', NULL, 'none')") == 2)
            #expect(try count("history_texts WHERE id IN ()") == 0)
            #expect(try count("history_texts WHERE id NOT IN ('042', 'x')") == 2)
            #expect(try count("history_any WHERE k IN ('42', 0, x'00')") == 2)
            #expect(try count("history_texts WHERE id IN (SELECT value FROM json_each('[\"042\",42,null]'))") == 1)
            #expect(try count("nums CROSS JOIN history_texts h WHERE h.id = nums.n") == 3)
            #expect(try count("changes_texts WHERE _actor IN (SELECT n FROM nums)") == 4)
            #expect(try count("changes_texts WHERE _actor = '42'") == 4)
            #expect(try count("changes_texts WHERE _actor = 42") == 0)
            #expect(try count("history_any WHERE k = 0") == 1)
            #expect(try count("history_any WHERE k = 42.0") == 1)
            #expect(try count("history_any WHERE k = 7") == 1)
            #expect(try count("history_any WHERE k IN (SELECT n FROM nums)") == 3)
            #expect(try count("history_reals WHERE r = -0.0") == 1)
            #expect(try count("history_reals WHERE r = '42'") == 1)
            #expect(try count("commits a JOIN storage_commits b USING (number)") == count("storage_commits"))
            try writer.database.execute("CREATE VIEW mixed AS SELECT n FROM nums WHERE 0 UNION ALL SELECT '042'")
            #expect(try count("mixed CROSS JOIN history_texts h WHERE h.id = mixed.n") == 3)
        }
        try await engine.close()
    }

    /// Whole histories are read at once here: too many events for a search of each value.
    @Test("A join by key finds rows by an index, not by reading all of them")
    func joinByKey() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "texts", "CREATE TABLE texts(id TEXT PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        _ = try await engine.commit(
            """
            INSERT INTO texts(id, v)
              WITH numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000) SELECT n, 0 FROM numbers;
            UPDATE texts SET v = 1;
            """)
        try await engine.withWriter { writer, _ in
            let join = try HistoryTableInstaller(writer.database).statement(
                for: "SELECT count(*) FROM texts x CROSS JOIN history_texts h ON h.id = x.id")
            #expect(try join.step())
            #expect(join.integer(0) == 2_000)
            // SQLite checks each row that a search returns.
            #expect(sqlite3_stmt_status(join.pointer, SQLITE_STMTSTATUS_VM_STEP, 0) < 100_000)
        }
        try await engine.close()
    }

    @Test("Values that an affinity makes equal are found by an index")
    func equalByAffinity() async throws {
        let engine = try TestStore.inMemory()
        let values = [
            "42", "-0.0", "0.1 + 0.2", "0.3", "1 << 60", "(1 << 60) + 1", "1152921504606846976.0", "9e999",
            "9223372036854775807", "1e15 / 3", "'42'", "'042'", "'42.0'", "' 42'", "'4.2e1'", "'0.3'",
            "'0.30000000000000004'", "'1152921504606846976.0'", "'1.15292150460685e+18'", "'9e999'",
            "'333333333333333.3'", "'2024-01-05'", "'42x'", "''", "x'3432'",
        ]
        let types = ["TEXT", "REAL", "NUMERIC", "BLOB"]
        for type in types {
            try await engine.adopt(
                type, "CREATE TABLE \(type)(k \(type) PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
            _ = try await engine.commit(
                values.map { "INSERT OR IGNORE INTO \(type)(k) VALUES (\($0));" }.joined(separator: "\n"))
        }
        try await engine.withWriter { writer, _ in
            _ = try Self.makeCopies(writer.database)
            for type in types {
                for other in types {
                    for origin in ["\(other)", "(SELECT k FROM \(other) WHERE 0 UNION ALL SELECT k FROM BLOB)"] {
                        func query(_ table: String) -> String {
                            "SELECT o.k, h.k FROM \(origin) o CROSS JOIN \(table) h WHERE h.k = o.k ORDER BY 1, 2, h._position"
                        }
                        let tables = try HistoryTableInstaller(writer.database)
                        let found = try Self.rows(tables.statement(for: query("history_\(type)")))
                        let expected = try Self.rows(
                            PreparedStatement(writer.database, query("temp.copy_history_\(type)")))
                        #expect(!found.isEmpty, "\(query(type))")
                        #expect(found == expected, "\(query(type))")
                    }
                }
            }
        }
        try await engine.close()
    }

    private func rowCount(of from: String, in database: Connection) throws -> Int64 {
        let statement = try HistoryTableInstaller(database).statement(for: "SELECT count(*) FROM \(from)")
        _ = try statement.step()
        return statement.integer(0)
    }

    @Test("Texts are compared by the collations of their columns")
    func collations() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "people",
            """
            CREATE TABLE people(
              code TEXT PRIMARY KEY COLLATE NOCASE, name TEXT COLLATE nocase, note TEXT COLLATE RTRIM, plain TEXT,
              _position INTEGER NOT NULL DEFAULT 0)
            """)
        _ = try await engine.commit(
            """
            INSERT INTO people(code, name, note, plain) VALUES ('A', 'BOB', 'x  ', 'BOB'), ('b', 'bob', 'x', 'bob');
            UPDATE people SET name = 'Bob' WHERE code = 'A';
            """)
        try await engine.withWriter { writer, _ in
            func count(_ from: String) throws -> Int64 { try rowCount(of: from, in: writer.database) }
            #expect(try count("history_people WHERE name = 'bOB'") == 3)
            #expect(try count("history_people WHERE name IN ('bOB')") == 3)
            #expect(try count("history_people WHERE note = 'x '") == 3)
            #expect(try count("history_people WHERE plain = 'bOB'") == 0)
            #expect(try count("history_people WHERE code = 'a'") == 2)
            #expect(try count("history_people WHERE code IN ('a', 'B')") == 3)
            #expect(try count("history_people WHERE code = 'a' COLLATE BINARY") == 0)
            #expect(try count("history_people WHERE code = 'A' COLLATE BINARY") == 2)
            #expect(try count("people CROSS JOIN history_people h WHERE h.code = people.code") == 3)
            #expect(try count("changes_people WHERE code = 'a'") == 2)
            #expect(try count("changes_people WHERE new_name = 'BoB'") == 3)
            #expect(try count("changes_people WHERE old_name = 'bob'") == 1)
            #expect(try count("(SELECT DISTINCT name FROM history_people)") == 1)
            #expect(try count("(SELECT 1 FROM history_people GROUP BY note)") == 1)
            #expect(try count("(SELECT DISTINCT plain FROM history_people)") == 2)
            let sorted = try HistoryTableInstaller(writer.database).statement(
                for: "SELECT code FROM history_people ORDER BY code, _position")
            let codes = ["A", "A", "b"].map { "\(ExactValue(.text($0)))" }
            #expect(try Self.rows(sorted) == codes)
            // A lookup by key finds only the same bytes, so it isn't used where other texts are equal.
            func plan(_ condition: String) throws -> String {
                let sql = "SELECT * FROM history_people WHERE \(condition)"
                let plan = try HistoryTableInstaller(writer.database).plan(for: sql)
                return plan.steps.map(\.detail).joined(separator: "; ")
            }
            #expect(try plan("code = 'a'").hasSuffix("from all events"))
            #expect(try plan("code = 'a' COLLATE BINARY").hasSuffix("by code = ?"))
        }
        try await engine.close()
    }

    /// What the log can't say of the store's tables must not come out as history.
    @Test("A row that was changed past the log has the versions of the log")
    func changedPastLog() async throws {
        let engine = try await open()
        try await engine.withWriter { writer, db in
            let source = writer.database
            let sql = "SELECT title, views FROM history_posts WHERE id = 5 ORDER BY _position DESC"
            let before = try Self.rows(HistoryTableInstaller(source).statement(for: sql))
            writer.database.setTriggersEnabled(false)
            try PreparedStatement(source, "UPDATE posts SET views = -1 WHERE id = 5").execute()
            #expect(try Self.rows(PreparedStatement(source, "SELECT views FROM posts WHERE id = 5")) == ["integer(-1)"])
            #expect(try Self.rows(HistoryTableInstaller(source).statement(for: sql)) == before)
            try PreparedStatement(source, "DELETE FROM posts WHERE id = 5").execute()
            #expect(try Self.rows(PreparedStatement(source, "SELECT 1 FROM posts WHERE id = 5")) == [])
            #expect(try Self.rows(HistoryTableInstaller(source).statement(for: sql)) == before)
            #expect(before.count > 10)
        }
    }
}
