import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

@StorageEntity
struct Article: Equatable {
    var id: String
    var title: String
    var content: String
    var views: Int = 0
}

/// Counts events in savepoints of its own.
private struct SavepointProjection: Projection {
    let name = "savepoints"
    let version = 1

    func prepare(_ db: Database) throws { try db.execute(sql: "CREATE TABLE savepoints(events INTEGER)") }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        try db.inSavepoint {
            try db.execute(sql: "INSERT INTO savepoints VALUES (?)", arguments: [batch.events.count])
            return .commit
        }
    }
}

/// A full-text index is what the rows are, after every commit, whatever made the change.
@Suite struct FullTextTests {
    private func open(_ more: (inout Schema) -> Void = { _ in }) throws -> Storage {
        try StorageKit.inMemory {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
            more(&$0)
        }.facade
    }

    private static let articles = [
        Article(id: "a", title: "Swift concurrency", content: "Actors and structured concurrency in Swift."),
        Article(id: "b", title: "Kotlin", content: "Coroutines, compared with Swift and async functions."),
        Article(id: "c", title: "Objective-C", content: "Messages & selectors; objc runtime. Performance."),
        Article(id: "d", title: "Performance", content: "Measuring swift code: performance counters. Running faster."),
    ]

    private func ids(_ storage: Storage, _ query: String, syntax: SearchSyntax = .simple) async throws -> [String] {
        try await storage.search(Article.self, query: query, syntax: syntax).map(\.entity.id).sorted()
    }

    /// The catalog doesn't know a column that another program has added while the store was closed.
    @Test("An added column named as the rowid isn't the rowid", arguments: ["rowid", "_ROWID_", "oid"])
    func addedColumnIsNoRowid(name: String) async throws {
        let store = try TemporaryStore {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
        }
        let receipt = try await store.storage.save(Self.articles)
        try await store.storage.save(Article(id: "e", title: "Later", content: "Removed."))
        try await store.storage.close()
        let other = try store.otherProgram()
        try await other.write { db in
            let rowids = try Int.fetchAll(db, sql: "SELECT rowid FROM articles ORDER BY id DESC")
            try db.execute(sql: "ALTER TABLE articles ADD COLUMN \(name) INTEGER")
            for (id, rowid) in zip(["a", "b", "c", "d", "e"], rowids) {
                try db.execute(sql: "UPDATE articles SET \(name) = ? WHERE id = ?", arguments: [rowid, id])
            }
        }
        try other.close()
        try await store.reopen()
        #expect(try await ids(store.storage, "kotlin") == ["b"])
        #expect(try await store.storage.verify().findings.map(\.kind) == ["schema"])
        try await store.storage.save(Article(id: "b", title: "Java", content: "Threads."))
        #expect(try await ids(store.storage, "java") == ["b"])
        #expect(try await ids(store.storage, "kotlin") == [])
        try await store.storage.restore(Article.self, to: .position(receipt.position))
        #expect(try await store.storage.all(Article.self).map(\.id).sorted() == ["a", "b", "c", "d"])
        #expect(try await ids(store.storage, "kotlin") == ["b"])
        #expect(try await store.storage.verify().findings.map(\.kind) == ["schema"])
        try await store.storage.rebuild()
        #expect(try await ids(store.storage, "kotlin") == ["b"])
        try await expectSound(store.storage, "rebuilt")
    }

    @Test("Words, phrases, prefixes and operators find rows")
    func querySyntax() async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        for (query, expected) in [
            ("swift", ["a", "b", "d"]), ("swift performance", ["d"]), ("\"structured concurrency\"", ["a"]),
            ("swift AND (async OR actors)", ["a", "b"]), ("swift NOT kotlin", ["a", "d"]), ("concur*", ["a"]),
            ("run", ["d"]), ("SWIFT", ["a", "b", "d"]), ("swift NOT kotlin NOT actors", ["d"]),
            ("(swift OR objc) performance", ["c", "d"]), ("nothing", []), ("", []), ("   ", []),
        ] {
            #expect(try await ids(storage, query) == expected, "\(query)")
        }
    }

    /// Whatever a person types is looked for or ignored, never an error.
    @Test("No text breaks the simple syntax", arguments: testSeeds(1))
    func arbitraryUserText(seed: UInt64) async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        var random = SplitMix64(seed: seed)
        let pieces = [
            "swift", "AND", "OR", "NOT", "(", ")", "\"", "*", "NEAR(", "title:", "^", "-", "+", "'", ";", "\0", "é",
            "{", " ",
        ]
        var queries = [
            "\"", "\"\"", "swift \"", "AND", "swift AND", "OR OR", "NOT swift", "((", "swift)", "C++ & Swift",
            "title : swift",
            "^swift", "swift -kotlin", "NEAR(swift kotlin)", "*", "a* *", "'; DROP TABLE articles; --", "x\0y",
            String(repeating: "(", count: 5_000), String(repeating: "swift ", count: 2_000),
            "swift" + (0..<500).map { " NOT w\($0)" }.joined(),
            String(repeating: "swift async NOT (b OR c NOT (", count: 32) + "a" + String(repeating: "))", count: 32),
            String(repeating: "(a ", count: 500) + String(repeating: ")", count: 500),
        ]
        for _ in 0..<300 {
            queries.append(
                (0...random.below(8)).map { _ in random.pick(pieces) }.joined(separator: random.chance(50) ? " " : ""))
        }
        for query in queries { _ = try await ids(storage, query) }
        #expect(try await ids(storage, "swift AND") == ["a", "b"])
        #expect(try await ids(storage, "objective & selectors") == ["c"])
        #expect(try await storage.count(Article.self) == 4)
    }

    @Test("Many exclusions and repeated words are one condition")
    func longText() async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        let exclusions = (0..<500).map { " NOT w\($0)" }.joined()
        #expect(try await ids(storage, "swift" + exclusions) == ["a", "b", "d"])
        #expect(try await ids(storage, "swift" + exclusions + " NOT kotlin") == ["a", "d"])
        let repeated = String(repeating: "swift ", count: 4_000)
        #expect(SearchTextParser.expression(repeated)?.text == "\"swift\"")
        let ranks = try await storage.search(Article.self, query: "swift").map(\.rank)
        #expect(try await storage.search(Article.self, query: "swift swift").map(\.rank) == ranks)
        #expect(SearchTextParser.expression("NOT NOT swift swift")?.text == "\"NOT\" AND \"swift\"")
        #expect(SearchTextParser.expression("a a* \"a a\" b a")?.text == "\"a\" AND \"a\" * AND \"a a\" AND \"b\"")
        #expect(SearchTextParser.expression("a OR a")?.text == "\"a\"")
        #expect(SearchTextParser.expression("\u{e9} e\u{301}")?.text == "\"\u{e9}\" AND \"e\u{301}\"")
        #expect(SearchTextParser.expression("a NOT b NOT c")?.text == "(\"a\" NOT (\"b\" OR \"c\"))")
    }

    @Test("The full syntax is available on request, and its errors are reported")
    func fullSyntaxOnRequest() async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        #expect(try await ids(storage, "title : swift", syntax: .fts5) == ["a"])
        #expect(try await ids(storage, "NEAR(structured swift, 3)", syntax: .fts5) == ["a"])
        let error = await #expect(throws: StorageError.self) { try await ids(storage, "swift AND (", syntax: .fts5) }
        #expect(error?.code == .invalidQuery)
        let missing = await #expect(throws: StorageError.self) {
            try await StorageKit.inMemory { $0.autoSchema(ArticleRecord.self) }.facade.search(Article.self, query: "x")
        }
        #expect(missing?.code == .notFound)
        #expect(missing?.remedy.contains("addFullTextSearch") ?? false)
    }

    @Test("Ranks, weights, limits and excerpts are those of FTS5")
    func ranksWeightsAndExcerpts() async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        let plain = try await storage.search(Article.self, query: "performance")
        #expect(plain.map(\.rank) == plain.map(\.rank).sorted())
        #expect(plain.allSatisfy { $0.rank < 0 })
        let weighted = try await storage.search(Article.self, query: "performance", weights: ["title": 100])
        #expect(weighted.first?.entity.id == "d")
        #expect(weighted[0].rank < plain[0].rank)
        #expect(try await storage.search(Article.self, query: "swift", limit: 1, offset: 1).count == 1)
        #expect(try await storage.search(Article.self, query: "swift", limit: 0).isEmpty)
        #expect(try await storage.searchCount(Article.self, query: "swift") == 3)
        let snippets = try await storage.searchWithSnippets(Article.self, query: "actors", snippetColumn: 1)
        #expect(snippets.map(\.snippet) == ["<b>Actors</b> and structured concurrency in Swift."])
        let marked = try await storage.search(
            Article.self, query: "swift kotlin", excerpt: .highlight(column: "content", start: "[", end: "]"))
        #expect(marked.map(\.snippet) == ["Coroutines, compared with [Swift] and async functions."])
        let short = try await storage.search(
            Article.self, query: "async",
            excerpt: .snippet(column: "content", start: "«", end: "»", ellipsis: "…", words: 3))
        #expect(short.first?.snippet?.contains("«async»") ?? false)
        for excerpt in [SearchExcerpt.snippet(column: "nope"), .snippet(words: 65), .highlight(column: "views")] {
            await #expect(throws: StorageError.self) {
                try await storage.search(Article.self, query: "swift", excerpt: excerpt)
            }
        }
        await #expect(throws: StorageError.self) {
            try await storage.searchWithSnippets(Article.self, query: "swift", snippetColumn: 2)
        }
    }

    /// Random changes on every path; after each commit the index finds what a new one over the rows would find.
    @Test("The index matches the rows after every commit", arguments: testSeeds(1))
    func indexMatchesRowsAfterEveryCommit(seed: UInt64) async throws {
        let storage = try open {
            $0.migration("extra") { db in
                try db.execute(sql: "CREATE TABLE reviews (article TEXT REFERENCES articles(id) ON DELETE CASCADE)")
            }
        }
        let words = ["alpha", "beta", "gamma", "delta", "omega", "running", "ran", "é", ""]
        for round in 0..<Int(60 * max(testScale, 0.2)) {
            do {
                try await storage.write { tx in
                    var random = SplitMix64(seed: seed &+ UInt64(round))
                    func text() -> String {
                        (0..<random.below(6)).map { _ in random.pick(words) }.joined(separator: " ")
                    }
                    for _ in 0...random.below(6) {
                        let id = "\(random.below(12))"
                        switch random.below(9) {
                        case 0...2: try tx.save(Article(id: id, title: text(), content: text()))
                        case 3: try tx.delete(Article.self, id: id)
                        case 4: try tx.execute("UPDATE articles SET title = ? WHERE id > ?", [text(), id])
                        case 5: try tx.execute("UPDATE articles SET views = views + 1")
                        case 6:
                            try tx.execute(
                                "INSERT OR REPLACE INTO articles(id, title, content, views, updatedAt) VALUES (?, ?, ?, 0, 0)",
                                [id, text(), text()])
                        case 7:
                            try tx.execute("SAVEPOINT s")
                            try tx.execute("UPDATE articles SET content = ?", [text()])
                            try tx.execute("ROLLBACK TO s")
                            try tx.execute("RELEASE s")
                        default: try tx.execute("UPDATE OR IGNORE articles SET id = id || 'x' WHERE id = ?", [id])
                        }
                    }
                    if round % 7 == 6 { throw CancellationError() }
                }
            } catch is CancellationError {}
            try await expectSound(storage, "round \(round)")
        }
        try await storage.rebuild()
        try await expectSound(storage, "rebuilt")
    }

    private func expectSound(_ storage: Storage, _ context: String) async throws {
        let report = try await storage.verify()
        #expect(report.isSound, "\(context): \(report.findings)")
    }

    /// Opens a store of articles with a full-text index.
    private func startWithArticles(at url: URL) throws -> Storage {
        try StorageKit.start(at: url) {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
        }.facade
    }

    @Test("A damaged index is found")
    func damagedIndex() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let storage = try startWithArticles(at: url)
        try await storage.save(Self.articles)
        #expect(try await storage.verify().isSound)
        try await storage.close()
        let queue = try DatabaseQueue(path: url.path)
        let table = try await queue.read {
            try String.fetchOne($0, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'storage_fts_%'")!
        }
        try await queue.write { db in
            try db.execute(
                sql:
                    "INSERT INTO \(table)(\(table), rowid, title, content) VALUES ('delete', 1, 'Swift concurrency', 'x')"
            )
        }
        try queue.close()
        let damaged = try startWithArticles(at: url)
        #expect(try await damaged.verify().findings.map(\.kind) == ["full-text"])
        try await damaged.rebuild()
        #expect(try await damaged.verify().isSound)
        try await damaged.close()
    }

    /// - Parameter damage: What another program does; `%@` is the index.
    @Test(
        "An index that another program has damaged is found, and made again",
        arguments: [
            "DELETE FROM %@_idx",
            "DELETE FROM %@_idx WHERE pgno >> 1 = 3",
            "DELETE FROM %@_idx WHERE pgno = (SELECT max(pgno) FROM %@_idx)",
            // Words of the first page are looked for on the second.
            "UPDATE %@_idx SET term = x'3061' WHERE pgno >> 1 = 2",
            "INSERT INTO %@_config VALUES ('rank', 'nofunc(1)')",
            "UPDATE %@_config SET v = 3 WHERE k = 'version'",
            "DROP TABLE %@_config",
            "DROP TABLE %@_idx",
            "DROP TABLE %@",
            "DROP TABLE %@; CREATE VIRTUAL TABLE %@ USING fts5(title, content='articles', content_rowid='rowid', tokenize='unicode61')",
        ])
    func damagedIndexIsRemade(damage: String) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        func start(isReadOnly: Bool = false) throws -> Storage {
            try StorageKit.start(at: url, config: StorageConfig(isReadOnly: isReadOnly)) {
                $0.autoSchema(ArticleRecord.self)
                $0.addFullTextSearch(table: "articles", columns: ["title", "content"], prefixes: [2])
            }.facade
        }
        // An index of several pages, in one segment.
        let articles = (0..<400).map { number in
            let words = (10_000..<10_010).map { "w\(number * 10 + $0)" }.joined(separator: " ")
            return Article(id: "\(number)", title: "same", content: words, views: 0)
        }
        let storage = try start()
        try await storage.save(articles)
        #expect(try await storage.verify().isSound)
        try await storage.close()
        let queue = try DatabaseQueue(path: url.path)
        try await queue.write { db in
            let table = try String.fetchOne(
                db, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'storage_fts_%' ORDER BY name")!
            try db.execute(sql: damage.replacingOccurrences(of: "%@", with: table))
        }
        try queue.close()
        let damaged = try start(isReadOnly: true)
        let kinds = try await damaged.verify().findings.map(\.kind)
        #expect(kinds.contains("full-text"), "\(kinds)")
        try await damaged.close()
        let repaired = try start()
        try await repaired.save(Article(id: "new", title: "same", content: "other", views: 0))
        try await repaired.rebuild()
        #expect(try await repaired.verify().isSound)
        #expect(try await repaired.search(Article.self, query: "same", limit: 1_000).count == 401)
        for word in ["w10000", "w10007", "w12345", "w13999", "other"] {
            #expect(try await repaired.search(Article.self, query: word).count == 1, "\(word)")
        }
        try await repaired.close()
    }

    @Test("A save that an emptied index refuses names the rebuild, which repairs it at once")
    func emptiedIndex() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let storage = try startWithArticles(at: url)
        try await storage.save(Self.articles)
        try await storage.close()
        let queue = try DatabaseQueue(path: url.path)
        try await queue.write { db in
            let table = try #require(
                try String.fetchOne(db, sql: "SELECT name FROM sqlite_schema WHERE name LIKE 'storage_fts_%'"))
            try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('delete-all')")
        }
        try queue.close()
        let emptied = try startWithArticles(at: url)
        var article = try #require(Self.articles.first)
        article.title = "Changed"
        let changed = article
        let error = await #expect(throws: StorageError.self) { try await emptied.save(changed) }
        #expect(error?.code == .corrupt)
        #expect(error?.remedy.contains("storagekit rebuild articles") == true)
        try await emptied.rebuild()
        try await emptied.save(changed)
        #expect(try await emptied.search(Article.self, query: "changed").count == 1)
        #expect(try await emptied.verify().isSound)
        try await emptied.close()
    }

    @Test("What another program wrote is recorded, beside an index")
    func recordedBesideIndex() async throws {
        let store = try TemporaryStore {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
        }
        try await store.storage.save(Self.articles)
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "UPDATE articles SET title = 'foreign' WHERE id = 'a'") }
        try foreign.close()
        let recorded = try await DriftRecording(store.storage.engine).run(metadata: CommitMetadata())
        #expect(recorded.changes.receipt?.commit != nil)
        #expect(try await ids(store.storage, "foreign") == ["a"])
        try await expectSound(store.storage, "recorded")
    }

    @Test(
        "A store opens, and is rebuilt, after another program has changed the columns of a table with an index",
        arguments: [
            "RENAME COLUMN title TO heading", "DROP COLUMN title",
            "ADD rowid; ALTER TABLE articles ADD _rowid_; ALTER TABLE articles ADD oid",
        ])
    func foreignChangeOfIndexedColumn(change: String) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let storage = try startWithArticles(at: url)
        try await storage.save(Self.articles)
        try await storage.close()
        let queue = try DatabaseQueue(path: url.path)
        try await queue.write { try $0.execute(sql: "ALTER TABLE articles \(change)") }
        try queue.close()
        let engine = try StorageEngine.openStore(path: url.path, configuration: StorageConfig())
        _ = try await Rebuild(engine, [], options: RebuildOptions()).run()
        try await engine.close()
        let rebuilt = try startWithArticles(at: url)
        #expect(try await ids(rebuilt, "swift") == ["a", "b", "d"])
        try await rebuilt.save(Article(id: "e", title: "swift", content: ""))
        #expect(try await ids(rebuilt, "swift") == ["a", "b", "d", "e"])
        try await expectSound(rebuilt, "rebuilt")
        try await rebuilt.close()
    }

    /// FTS5 writes the words of the rows when the projection begins a savepoint.
    @Test("A projection may set savepoints beside an index")
    func projectionWithSavepoints() async throws {
        let storage = try open { $0.addProjection(SavepointProjection(), mode: .inline) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await storage.save(Article(id: "\(number)", title: "t", content: "word")) }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.searchCount(Article.self, query: "word") == 20)
        #expect(try await storage.read { try Int.fetchOne($0, sql: "SELECT sum(events) FROM savepoints") } == 20)
        try await expectSound(storage, "after the saves")
    }

    /// FTS5 reads the list of its segments when it writes words.
    @Test("A damaged index isn't the error of a projection beside it")
    func damagedIndexBesideProjection() async throws {
        let store = try TemporaryStore {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
            $0.addProjection(SavepointProjection(), mode: .inline)
        }
        try await store.storage.save(Self.articles)
        let foreign = try store.otherProgram()
        try await foreign.write { db in
            let index = try String.fetchOne(
                db, sql: "SELECT name FROM sqlite_schema WHERE name GLOB 'storage_fts_*_data'")
            try db.execute(sql: "DELETE FROM \(try #require(index)) WHERE id = 10")
        }
        try foreign.close()
        let error = await #expect(throws: StorageError.self) {
            try await store.storage.save(Article(id: "e", title: "t", content: "word"))
        }
        #expect(error?.code == .corrupt)
        #expect(error?.remedy.contains("storagekit rebuild articles") == true)
    }

    @Test("Renamed, converted and recreated tables keep their index")
    func indexSurvivesRenamesAndConversions() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title", "content"])
        }.facade
        try await first.save(Self.articles)
        try await first.close()
        let second = try StorageKit.start(at: url) {
            $0.renameEntity("articles", to: "pages")
            $0.renameColumn("content", to: "body", in: "pages")
            $0.autoSchema(PageRecord.self)
            $0.addFullTextSearch(table: "pages", columns: ["title", "body"])
            $0.migration("anew") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE p (id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, views INTEGER NOT NULL,
                          updatedAt DATETIME NOT NULL);
                        INSERT INTO p(id, title, body, views, updatedAt) SELECT id, title, body, views, updatedAt FROM pages ORDER BY id DESC;
                        DROP TABLE pages;
                        ALTER TABLE p RENAME TO pages;
                        """)
            }
        }.facade
        #expect(try await second.search(Page.self, query: "swift").count == 3)
        try await second.save(Page(id: "e", title: "new", body: "swift again", views: 0))
        #expect(try await second.search(Page.self, query: "swift").count == 4)
        let report = try await second.verify()
        #expect(report.isSound, "\(report.findings)")
        try await second.close()
    }

    @Test(
        "An index fits the rows after a commit that changes both its columns and rows",
        arguments: [
            "ALTER TABLE articles RENAME COLUMN title TO heading; DELETE FROM articles WHERE id = 'b'",
            "DELETE FROM articles WHERE id = 'b'; ALTER TABLE articles RENAME COLUMN title TO heading",
            """
            ALTER TABLE articles RENAME COLUMN title TO heading;
            INSERT INTO articles(id, heading, content, views, updatedAt) VALUES ('e', 'new', 'swift', 0, 0)
            """,
            "ALTER TABLE articles RENAME TO pages; UPDATE pages SET content = 'more ' || content",
            "ALTER TABLE articles ADD COLUMN rowid; UPDATE articles SET content = 'more', rowid = 7 WHERE id = 'a'",
        ])
    func changedColumnsAndRows(sql: String) async throws {
        let storage = try open()
        try await storage.save(Self.articles)
        try await storage.write { tx in try tx.execute(sql) }
        try await expectSound(storage, "at once")
        let table = sql.contains("pages") ? "pages" : "articles"
        // The next commit is brought into the index.
        try await storage.write { tx in
            try tx.execute("UPDATE \(table) SET content = content || ' again' WHERE id <> 'd'")
            try tx.execute("DELETE FROM \(table) WHERE id = 'd'")
        }
        try await expectSound(storage, "after another commit")
    }

    /// The second migration finds the table as the first has left it: its commit has no event.
    @Test(
        "An index fits the rows of a recreated table, also if the migration leaves rows out", arguments: ["b", "none"])
    func recreatedWithoutRow(left: String) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let columns = "id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL, content TEXT NOT NULL, views INTEGER NOT NULL"
        let first = try startWithArticles(at: url)
        try await first.save(Self.articles)
        try await first.close()
        let second = try StorageKit.start(at: url) { schema in
            schema.autoSchema(ArticleRecord.self)
            schema.addFullTextSearch(table: "articles", columns: ["title", "content"])
            for name in ["m1", "m2"] {
                schema.migration(name) { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE n (\(columns), updatedAt DATETIME NOT NULL, _position INTEGER NOT NULL DEFAULT 0);
                            INSERT INTO n(id, title, content, views, updatedAt)
                            SELECT id, title, content, views, updatedAt FROM articles WHERE id <> '\(left)' ORDER BY id DESC;
                            DROP TABLE articles;
                            ALTER TABLE n RENAME TO articles;
                            """)
                }
            }
        }.facade
        try await expectSound(second, "after the migrations")
        try await second.save(Article(id: "e", title: "new", content: "swift again"))
        try await second.delete(Article.self, id: "a")
        try await expectSound(second, "after other commits")
        #expect(try await ids(second, "swift") == (left == "b" ? ["d", "e"] : ["b", "d", "e"]))
        try await second.close()
    }

    @Test("A search follows changes of the index while the store is open")
    func indexChangedWhileOpen() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(ArticleRecord.self)
            $0.migration("notes") { try $0.execute(sql: "ALTER TABLE articles ADD COLUMN note TEXT") }
            $0.addFullTextSearch(table: "articles", columns: ["title", "note"])
        }.facade
        try await storage.save(Self.articles)
        try await storage.write { try $0.execute("UPDATE articles SET note = 'remarkable'") }
        let found = try await storage.search(Article.self, query: "remarkable", weights: ["note": 2])
        #expect(found.count == Self.articles.count)

        try await storage.write { try $0.execute("ALTER TABLE articles RENAME COLUMN note TO remark") }
        let again = try await storage.search(Article.self, query: "remarkable", weights: ["remark": 2])
        #expect(again.count == Self.articles.count)
        await #expect(throws: StorageError.self) {
            try await storage.search(Article.self, query: "remarkable", weights: ["note": 2])
        }

        try await storage.write { try $0.execute("ALTER TABLE articles DROP COLUMN remark") }
        let error = await #expect(throws: StorageError.self) {
            try await storage.search(Article.self, query: "remarkable")
        }
        #expect(error?.code == .notFound)
    }

    @Test("An entity may have a name that the search uses itself")
    func entityNamedLikeInternalTable() async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(FoundRecord.self)
            $0.addFullTextSearch(table: "found", columns: ["e"])
        }.facade
        try await storage.save(Found(id: 7, e: "a needle", place: 3))
        for excerpt in [nil, SearchExcerpt.snippet()] {
            let results = try await storage.search(Found.self, query: "needle", excerpt: excerpt)
            #expect(results.map(\.entity) == [Found(id: 7, e: "a needle", place: 3)])
        }
    }

    @StorageEntity(table: "found") struct Found: Equatable {
        var id: Int
        var e: String
        var place: Int
    }

    @StorageEntity struct Page {
        var id: String
        var title: String
        var body: String
        var views: Int
    }

    /// As the cookbook's table of tokenizers says.
    private static let searches: [(tokenizer: String, query: String, expected: [String])] = [
        ("unicode61", "muller", ["german"]), ("unicode61", "läu*", ["german"]), ("unicode61", "strasse", []),
        ("trigram", "日本語", ["japanese"]), ("trigram", "日本", []), ("trigram", "üll", ["german"]),
        ("trigram", "ull", []), ("porter", "run", ["english"]),
    ]

    @Test("Texts in other languages are found", arguments: searches)
    func languages(tokenizer: String, query: String, expected: [String]) async throws {
        let storage = try StorageKit.inMemory {
            $0.autoSchema(ArticleRecord.self)
            $0.addFullTextSearch(table: "articles", columns: ["title"], tokenizer: tokenizer)
        }.facade
        try await storage.save([
            Article(id: "english", title: "Running", content: ""),
            Article(id: "german", title: "Müller läuft auf der Straße", content: ""),
            Article(id: "japanese", title: "日本語の文章", content: ""),
        ])
        #expect(try await ids(storage, query) == expected)
    }

    @Test("Every tokenizer works, and an unknown one is refused")
    func everyTokenizer() async throws {
        for (tokenizer, query, count) in [
            ("porter", "run", 1), ("unicode61", "running", 1), ("ascii", "running", 1), ("trigram", "erform", 2),
            ("unicode61 remove_diacritics 2", "swift", 3), ("porter unicode61", "runs", 1),
        ] {
            let storage = try StorageKit.inMemory {
                $0.autoSchema(ArticleRecord.self)
                $0.addFullTextSearch(
                    table: "articles", columns: ["title", "content"], tokenizer: tokenizer, prefixes: [2, 3])
            }.facade
            try await storage.save(Self.articles)
            #expect(try await storage.search(Article.self, query: query).count == count, "\(tokenizer)")
            #expect(try await storage.verify().isSound)
        }
        let error = #expect(throws: StorageError.self) {
            try StorageKit.inMemory {
                $0.autoSchema(ArticleRecord.self)
                $0.addFullTextSearch(table: "articles", columns: ["title"], tokenizer: "klingon")
            }
        }
        #expect(
            error?.code == .schemaMismatch && error?.message.contains("klingon") ?? false
                || error?.remedy.contains("klingon") ?? false)
        let early = #expect(throws: StorageError.self) {
            try StorageKit.inMemory { $0.addFullTextSearch(table: "articles", columns: ["title"]) }
        }
        #expect(early?.remedy.contains("put autoSchema before") ?? false)
    }
}
