import Foundation
import GRDB
import StorageCore
import StorageKit
import StorageLog
import StorageMaintenance
import StorageProjections
import StorageTesting
import StorageViews
import TestSupport
import Testing

/// What `print` shows of the values that calls return.
@Suite struct DescriptionTests {
    @StorageEntity struct Post: Equatable {
        var id: Int
        var title: String
        var likes: Int?
    }

    /// Counts posts, and refuses one title.
    private struct Totals: Projection {
        var version = 1
        var counted = "count(*)"
        let name = "totals"
        let entities = ["posts"]

        func prepare(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE totals(id INTEGER PRIMARY KEY, count INTEGER NOT NULL)")
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for change in try batch.changes(of: "posts") {
                if change.new?["title"] == "bad" { throw Refused() }
                try db.execute(
                    sql: "INSERT OR REPLACE INTO totals VALUES (1, (SELECT \(counted) FROM totals) + 1)")
            }
        }
    }

    private struct Refused: Error, CustomStringConvertible { let description = "a bad title" }

    /// The column that every entity has.
    private static let stamp = #", updatedAt: "2024-01-01 00:00:00.000""#
    private static let time = "2024-01-01T00:00:00Z"

    private func open(_ declare: @escaping (inout Schema) throws -> Void = { _ in }) throws -> TemporaryStore {
        try TemporaryStore(config: StorageConfig(clock: ManualClock())) {
            $0.autoSchema(PostRecord.self)
            try declare(&$0)
        }
    }

    private func texts<Values: AsyncSequence>(_ values: Values) async throws -> [String] {
        var texts: [String] = []
        for try await value in values { texts.append("\(value)") }
        return texts
    }

    @Test("Events, commits and differences")
    func eventsAndCommits() async throws {
        let store = try open()
        let storage = store.storage
        let receipt = try await storage.write(actor: "anna", reason: "import") { tx in
            try tx.save(Post(id: 42, title: "a", likes: nil))
        }
        let commit = try #require(receipt.commit)
        let position = receipt.position
        try await storage.write(app: "web", correlation: "r-1") { tx in
            try tx.save(Post(id: 42, title: "b", likes: 1))
            try tx.save(Post(id: 43, title: "c", likes: nil))
        }
        try await storage.delete(Post.self, id: 43)

        #expect("\(receipt)" == "t:\(commit) @\(position)")
        #expect("\(try await storage.write { _ in })" == "no changes @\(position + 3)")
        let (first, last) = (position + 1, position + 2)
        let changes = try await storage.changes(since: .position(position - 1), limit: 100)
        #expect("\(changes)" == "3 commits with 4 events up to @\(position + 3)")
        #expect(
            changes.commits.map(\.description) == [
                """
                t:\(commit) \(Self.time) anna, "import"
                  @\(position) insert posts/42 title: "a", likes: NULL\(Self.stamp)
                """,
                """
                t:\(commit + 1) \(Self.time) (web), correlation r-1
                  @\(first) update posts/42 title: "a" → "b", likes: NULL → 1
                  @\(last) insert posts/43 title: "c", likes: NULL\(Self.stamp)
                """,
                """
                t:\(commit + 2) \(Self.time)
                  @\(position + 3) delete posts/43 title: "c", likes: NULL\(Self.stamp)
                """,
            ])
        #expect("\(changes.next)" == changes.next.text)
        var query = LogQuery(tables: ["posts"])
        query.positions = first...last
        #expect(
            try await texts(storage.log.commits(query)) == [
                "t:\(commit + 1) \(Self.time) (web), correlation r-1 @\(first)..@\(last) posts: 1 inserted, 1 updated"
            ])
        #expect(
            try await storage.history(Post.self, id: 42).map(\.description) == [
                "@\(position) t:\(commit) insert posts/42 title: \"a\", likes: NULL\(Self.stamp)",
                "@\(first) t:\(commit + 1) update posts/42 title: \"a\" → \"b\", likes: NULL → 1",
            ])
        #expect(
            try await texts(storage.diff(from: .position(position))) == [
                "update posts/42 title: \"a\" → \"b\", likes: NULL → 1"
            ])
        #expect(
            try await texts(storage.diff(Post.self, from: .position(position - 1))) == [
                "none → \(Post(id: 42, title: "b", likes: 1))"
            ])
        #expect(
            try await storage.blame(Post.self, id: 42)?.first?.description
                == "title: \"b\" @\(first) t:\(commit + 1) \(Self.time) (web), correlation r-1")
        #expect("\(try await storage.asOf(.position(first)))" == "snapshot @\(first)")
    }

    @Test("Commit metadata")
    func metadata() {
        #expect("\(CommitMetadata())" == "none")
        let metadata = CommitMetadata(
            actor: "anna", app: "web", reason: "why", correlation: "r", idempotencyKey: "k",
            attributes: ["b": "2", "a": "1"])
        #expect("\(metadata)" == "anna (web), \"why\", correlation r, idempotency key k, a=1, b=2")
    }

    @Test("Points, tags and notes")
    func points() async throws {
        let points: [StoragePoint] = [
            .position(7), .commit(3), .time(Date(timeIntervalSince1970: 0.5)), .tag("start"), .head,
            .before(.tag("start"), commits: 2),
        ]
        #expect(
            points.map(\.description) == [
                "@7", "t:3", "1970-01-01T00:00:00.500Z", "tag:start", "head", "tag:start~2",
            ])
        let store = try open()
        let storage = store.storage
        let position = storage.head
        try await storage.tag("start", note: "as it began")
        try await storage.note("Anna asked for it", at: .position(position))
        #expect(try await storage.tags().map(\.description) == ["tag:start @\(position) \"as it began\""])
        #expect(try await storage.notes().map(\.description) == ["@\(position) \"Anna asked for it\""])
    }

    @Test("Reverts")
    func reverts() async throws {
        let store = try open()
        let storage = store.storage
        try await storage.save(Post(id: 1, title: "a", likes: 1))
        let commit = try #require(try await storage.save(Post(id: 1, title: "b", likes: 2)).commit)
        try await storage.save(Post(id: 1, title: "b", likes: 3))
        let planned = try await storage.revert(commit, onConflict: .skip, isDryRun: true)
        #expect(
            "\(planned)" == """
                dry run compensates t:\(commit): 1 updated, 1 conflict
                  posts/1#likes: it has changed since (expected 2, found 3)
                  update posts/1 title: "b" → "a"
                """)
        let done = try await storage.revert(commit, onConflict: .skip)
        #expect(
            "\(done)" == """
                t:\(commit + 2) compensates t:\(commit): 1 updated, 1 conflict
                  posts/1#likes: it has changed since (expected 2, found 3)
                """)
        let nothing = try await storage.restore(Post.self, to: .head)
        #expect("\(nothing)" == "no commit: no changes")
    }

    @Test("Projections and their dead letters")
    func projections() async throws {
        let store = try open { $0.addProjection(Totals(), mode: .async, onFailure: .deadLetter) }
        let storage = store.storage
        try await storage.save(Post(id: 1, title: "a", likes: nil))
        let receipt = try await storage.save(Post(id: 2, title: "bad", likes: nil))
        try await storage.waitForProjections(through: receipt)
        let (commit, position) = (try #require(receipt.commit), receipt.position)
        let status = try #require(try await storage.projections.status().first { $0.name == "totals" })
        #expect("\(status)" == "totals 1 (async): running @\(position), 1 dead letter")
        #expect(
            try await storage.projections.deadLetters().map(\.description) == [
                "totals: @\(position) t:\(commit) insert posts/2 title: \"bad\", likes: NULL\(Self.stamp) (1 attempt): a bad title"
            ])
    }

    @Test("Comparisons of projections")
    func comparisons() async throws {
        let store = try open()
        let storage = store.storage
        let receipt = try await storage.save(Post(id: 1, title: "a", likes: nil))
        try await storage.save(Post(id: 2, title: "b", likes: nil))
        let head = receipt.position + 1
        let equal = try await storage.compareReplay(old: Totals(), new: Totals(version: 2))
        #expect("\(equal)" == "@0..@\(head), 2 events: equal")
        let different = try await storage.compareReplay(
            old: Totals(), new: Totals(version: 2, counted: "coalesce(max(0), 0)"))
        #expect(
            "\(different)" == """
                @0..@\(head), 2 events: differ since @\(head) (t:\(try #require(receipt.commit) + 1)), 1 row differs
                  update totals/1 count: 2 → 1
                """)
    }

    @Test("Reports of maintenance")
    func maintenance() async throws {
        let store = try open { $0.migration("first") { _ in } }
        let storage = store.storage
        try await storage.save(Post(id: 1, title: "a", likes: nil))
        let report = try await storage.verify()
        #expect("\(report)" == "sound: \(report.events) events, \(report.commits) commits, \(report.rows) rows")
        #expect(
            "\(try await storage.rebuild("posts"))" == "rebuilt up to @\(storage.head): posts 1 row; replaced")
        #expect(
            try await storage.appliedMigrations().map(\.description).first { $0.hasPrefix("first") }?
                .hasSuffix(" \(Self.time)") ?? false)
        let copy = store.url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
        let backup = try await storage.backup(to: copy)
        #expect(
            "\(backup)"
                == "\(copy.path): t:\(backup.commit) @\(backup.position) \(Self.time), \(backup.bytes) bytes, verified")
    }

    @Test("Changes of rows")
    func changes() {
        let events: [ChangeEvent] = [
            .inserted(tableName: "posts", id: 1, newData: ["title": "a", "likes": .null], position: 7),
            .updated(
                tableName: "posts", id: 1, changes: ["title": FieldChange(old: "a", new: "b")], position: 8),
            .deleted(tableName: "posts", id: "x", oldData: ["title": "b"], position: 9),
            .bulkChange(tableName: "posts", affectedCount: 2, position: 10),
            .bulkChange(tableName: "posts", affectedCount: nil, position: 11),
            .schemaChange(tableName: "posts", position: 12),
        ]
        #expect(
            events.map(\.description) == [
                "@7 insert posts/1 likes: NULL, title: \"a\"", "@8 update posts/1 title: \"a\" → \"b\"",
                "@9 delete posts/x title: \"b\"", "@10 posts: 2 rows changed", "@11 posts: many rows changed",
                "@12 posts: the schema changed",
            ])
        #expect("\(FieldChange(old: 1, new: .null))" == "1 → NULL")
    }
}
