import GRDB
import StorageEntities
import StorageKit
import StorageLog
import StorageTesting
import TestSupport
import Testing

@testable import StorageViews

/// What a live query says of the tables that it follows.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LiveExplanationTests {
    private func text(_ live: LiveQuery<some Sendable, some Sendable>) async throws -> String {
        "\(try #require(await live.explain()))"
    }

    @Test("Every table is there, once for each thing that is asked of it")
    func tables() async throws {
        let storage = try await Library.filled()
        let query = storage.query(Novelist.self).where { $0.country == "UA" }
            .has(\.novels) { $0.year > 2000 }.hasNo(\.pupils)
            .include(\.novels) { $0.has(\.publisher) { $0.city == "Lviv" }.include(\.chapters) }
        let expected = """
            incremental
              novelists: found by country =
              novels (has, novelistId = id): found by year from
              novelists (hasNo, mentorId = id): every change is looked at
              novels (include, novelistId = id): found by novelistId among 1 value
              publishers (has, id = publisherId): found by city =
              chapters (include, novelId = id): found by novelId among 1 value
            """
        #expect(try await text(query.live()) == expected)
        #expect(expected.hasPrefix(try await text(query.liveCount())))
        let counted = storage.query(Novelist.self).live(aggregating: \.novels, .count)
        #expect(
            try await text(counted) == """
                incremental
                  novelists: every change is looked at
                  novels (aggregate, novelistId = id): found by novelistId among 2 values
                """)
    }

    @Test("The conditions of a scope are among those by which changes are found")
    func scope() async throws {
        let visible = try await Library.filled().scoped { scope in
            scope.allow(Novelist.self) { $0.country == "UA" }
            scope.allow(Novel.self) { $0.year > 2000 }
        }
        #expect(
            try await text(visible.query(Novelist.self).has(\.novels).live()) == """
                incremental
                  novelists: found by country =
                  novels (has, novelistId = id): found by year from
                """)
    }

    @Test("It says what makes a query run again")
    func reasons() async throws {
        let storage = try await Library.filled()
        let query = storage.query(Novel.self).has(\.chapters) { _ in .sql("pages % 2 = 0") }.include(\.novelist)
        let explanation = try #require(await query.live().explain())
        #expect(!explanation.isIncremental)
        #expect(explanation.tables.map { $0.rerunReason != nil } == [false, true, false])
        #expect(
            "\(explanation)" == """
                runs again after some changes
                  novels: every change is looked at
                  chapters (has, novelId = id): every change is looked at; runs again, because only SQLite can evaluate its \
                condition, which has SQL or a collation of your own
                  novelists (include, id = novelistId): found by id among 0 values
                """)
        let list = QuerySubscription(query, start: .immediate)
        let before = await storage.subscriptions.counters.reloads
        await storage.waitForViews(through: try await storage.save(Chapter(id: 1, pages: 2, novelId: 1)))
        #expect(await storage.subscriptions.counters.reloads == before + 1)
        let woken = try #require(await list.explain())
        #expect(woken.wakeups == 1)
        #expect(woken.tables.map(\.wakeups) == [0, 1, 0])
        #expect(woken.lastEffect == .uncertain)
    }

    @Test("SQL of one's own names what it has read")
    func trackedSQL() async throws {
        let storage = try await Library.filled()
        let join = try await text(
            storage.liveValue {
                try Int.fetchOne(
                    $0, sql: "SELECT sum(pages) FROM novels JOIN chapters ON novelId = novels.id WHERE year > 0") ?? 0
            })
        let reason = "runs again, because only SQLite knows what SQL of your own finds"
        #expect(
            join == """
                runs again after some changes
                  chapters: changes of novelId, pages count; \(reason)
                  novels: changes of id, year count; \(reason)
                """)
        let rows = storage.liveValue {
            try Int.fetchOne($0, sql: "SELECT sum(year) FROM novels WHERE year > 2000") ?? 0
        }
        #expect(try await text(rows).hasSuffix("  of rows only those where year > 2000"))
    }

    @Test("Columns without an index by which changes look up rows are reported, as those of a query are")
    func missingIndexes() async throws {
        let storage = try await Library.filled(hasIndexes: false)
        let query = storage.query(Novelist.self).has(\.pupils)
            .include(\.novels) { $0.include(\.chapters).include(\.publisher) }
        let live = try #require(await query.live().explain())
        let once = try await query.explain()
        #expect(once.warnings.count == 3)
        #expect(live.warnings == once.warnings)
        #expect("\(live)".hasSuffix(once.warnings.map { "\nwarning: \($0)" }.joined()))
        // A parent that changes looks up its children, which no query that runs once does.
        let children = storage.query(Novel.self).has(\.novelist) { $0.country == "UA" }
        #expect(try await children.explain().warnings.isEmpty)
        let warnings = try #require(await children.live().explain()).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("ON \"novels\"(\"novelistId\")") == true)
        let view = QuerySubscription(children, start: .immediate)
        #expect(await view.explain()?.warnings == warnings)
        let indexed = try await Library.filled()
        #expect(try await indexed.query(Novel.self).has(\.novelist).live().explain()?.warnings.isEmpty == true)
    }

    @Test("A view that hides a table, as where pending rows are read, doesn't hide its indexes")
    func hiddenTable() async throws {
        let storage = try await Library.filled()
        let lookups = storage.query(Novelist.self).has(\.novels).request.lookups
        let pending = OptimisticRow(deleting: Novel.self, id: 1)
        try await storage.engine.read { db in
            try OptimisticTables.read([pending], in: db) {
                let hidden = try String.fetchAll(db, sql: "SELECT name FROM sqlite_temp_schema WHERE type = 'view'")
                #expect(hidden == ["novels"])
                #expect(try MissingIndexes(db).warnings(of: lookups).isEmpty)
            }
        }
    }

    @Test("An explanation of a closed store is an error, and of a view nothing")
    func closed() async throws {
        let storage = try await Library.filled()
        let live = storage.query(Novelist.self).include(\.novels).live()
        let view = QuerySubscription(storage.query(Novelist.self).include(\.novels), start: .immediate)
        try await storage.close()
        await #expect(throws: StorageError.self) { try await live.explain() }
        #expect(await view.explain() == nil)
    }
}
