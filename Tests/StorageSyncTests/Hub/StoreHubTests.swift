import Foundation
import GRDB
import PredicateTestSupport
import StorageCore
import StorageKit
import StorageLog
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// What a hub on a store sends to its followers, and what it accepts from its producers.
struct StoreHubTests {
    private static func text(_ value: some Encodable) throws -> StorageValue { .text(try JSONText.of(value)) }

    private func fields(_ owner: String, _ number: Int) throws -> [String: StorageValue] {
        ["owner": try Self.text(owner), "n": try Self.text(number)]
    }

    private func notes(_ id: String) -> DocumentID { DocumentID(entity: "notes", id: id) }

    private static func access(_ name: String, where condition: RowPredicate? = nil) -> HubAccess {
        HubAccess(
            actor: name, namespace: name,
            grants: [.init(entity: "notes", reads: true, writes: true, condition: condition)])
    }

    private static func owns(_ owner: String) -> RowPredicate {
        .comparison(column: "owner", .equal, .value(.text(owner)))
    }

    // MARK: Names

    /// Whatever modules keep beside users' tables, in a store that uses them all.
    @Test("No collection has the name of a table of StorageKit's own")
    func namesOfOwnTables() async throws {
        let store = try TemporaryStore { schema in
            schema.autoSchema(ProductRecord.self)
            schema.addFullTextSearch(table: "products", columns: ["name"])
            schema.addKVCache()
        }
        let hub = try await StoreHub(store.storage)
        try await store.storage.engine.withWriter { writer, db in
            try writer.group(db) {
                try SyncTables.create(in: db)
                try SourceStateTable.save(QuerySourceStatus(source: "s", parameter: ""), in: db)
            }
        }
        func objects() async throws -> [String: String] {
            try await store.storage.engine.read { db in
                let rows = try Row.fetchAll(
                    db,
                    sql: """
                        SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('table', 'index')
                          AND tbl_name NOT GLOB 'storage_*' AND name NOT GLOB 'sqlite_*' AND tbl_name <> 'products'
                        """)
                return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String, $0[1] as String) })
            }
        }
        let own = try await objects()
        let starts = ReservedNames.modules.filter { start in own.keys.contains { $0.hasPrefix(start) } }
        // The table that holds the former rows of one that was created again exists inside a transaction only.
        #expect(starts == ReservedNames.modules.filter { $0 != "replaced " })
        for name in own.keys.sorted() {
            #expect(ReservedNames.includes(name), "\(name)")
            let written = try await hub.write(.save(["t": .text("1")]), to: "d", of: name, as: .full)
            #expect(written.isCreated)
            #expect(try await hub.document("d", of: name, as: .full).fields["t"] == "1")
        }
        let after = try await objects()
        #expect(after.filter { own.keys.contains($0.key) } == own)
        #expect(try await Set(own.keys).isSubset(of: hub.collections(as: .full)))
    }

    @Test("No collection hides a table that SQLite has built in")
    func namesOfBuiltInTables() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let names = ["pragma_table_list", "PRAGMA_foreign_key_list", "dbstat", "json_each", "completion"]
        for name in names {
            let written = try await hub.write(.save(["t": .text("1")]), to: "d", of: name, as: .full)
            #expect(written.isCreated)
            #expect(try await hub.document("d", of: name, as: .full).fields["t"] == "1")
        }
        #expect(try await Set(names).isSubset(of: hub.collections(as: .full)))
        let tables = try await store.storage.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        #expect(Set(tables).isDisjoint(with: names))
        #expect(Set(tables).isSuperset(of: names.map { "t_\($0)" }))
    }

    @Test("A write of a batch is applied at the document's version")
    func positionBehindTriggers() async throws {
        let store = try TemporaryStore { schema in
            schema.migration("2026-01-01_notes") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER, revision INTEGER);
                        CREATE TRIGGER made AFTER INSERT ON notes BEGIN
                          UPDATE notes SET revision = 1 WHERE id = new.id;
                        END;
                        """)
            }
            schema.adopt("notes")
        }
        let hub = try await StoreHub(store.storage)
        var client = try await HubClient("one", hub)
        let results = try await client.push(
            HubWrite(1, .save(["n": .text("1")])), HubWrite(2, .save(["n": .text("2")]), of: "2"))
        for (id, result) in zip(["1", "2"], results) {
            #expect(try await result.position == hub.document(id, of: "notes", as: .full).version)
        }
    }

    // MARK: Refusals

    /// A hub on a table that another program has made, with a producer.
    private func run(
        _ statements: String, _ body: (TemporaryStore, StoreHub, inout HubClient) async throws -> Void
    ) async throws {
        let store = try TemporaryStore { schema in
            schema.migration("2026-01-01_notes") { db in
                try db.execute(sql: "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER, t TEXT)")
                try db.execute(sql: statements)
            }
            schema.adopt("notes")
        }
        let hub = try await StoreHub(store.storage)
        var client = try await HubClient("one", hub)
        try await body(store, hub, &client)
    }

    /// Another program's connection to the store, which waits while that is written to.
    private static func otherProgram(_ store: TemporaryStore) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(60)
        return try DatabaseQueue(path: store.url.path, configuration: configuration)
    }

    /// What the hub can follow is recorded. What it can't is kept back: a single request may succeed later, and a device would send its
    /// whole batch again.
    @Test(
        "A schema that another program has changed keeps back the writes to its table",
        arguments: [
            ("ALTER TABLE notes RENAME COLUMN t TO u", true),
            ("CREATE TRIGGER x AFTER UPDATE ON notes BEGIN INSERT INTO nowhere VALUES (1); END", false),
            ("ALTER TABLE notes ADD COLUMN g INTEGER AS (n + 1)", false),
        ])
    func foreignSchemaChange(statement: String, isFollowed: Bool) async throws {
        try await run("") { store, hub, client in
            _ = try await hub.write(.save(["n": .text("1")]), to: "1", of: "notes", as: .full)
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: statement) }
            let save = WriteOperation.save(["n": .text("3")])
            if !isFollowed {
                let single = await #expect(throws: StorageError.self) {
                    _ = try await hub.write(save, to: "1", of: "notes", as: .full)
                }
                #expect(single?.isOfTheStore ?? false)
            }
            let other = DocumentID(entity: "others", id: "1")
            let results = try await client.push(
                HubWrite(1, save, of: "1"), HubWrite(2, .patch(["n": .text("4")]), of: "1"),
                HubWrite(origin: 3, document: other, operation: save, base: 0), HubWrite(4, .delete, of: "1"))
            if isFollowed {
                #expect(results.allSatisfy { $0.position != nil }, "\(results)")
                return
            }
            guard case .rejected(.invalid(let reason)) = results[0] else {
                Issue.record("\(results)")
                return
            }
            #expect(reason.contains("\"notes\""), "\(reason)")
            #expect(reason.contains("storagekit verify"), "\(reason)")
            #expect(results[1] == .blocked)
            #expect(results[3] == .blocked)
            #expect(results[2].position != nil)
            #expect(try await hub.document("1", of: "others", as: .full).fields["n"] == "3")
        }
    }

    @Test("A write to a row that was written bypassing the hub's log is rejected, and the others aren't")
    func rowPastTheLog() async throws {
        try await run("") { store, hub, client in
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: "INSERT INTO notes(id, n) VALUES ('1', 1)") }
            let single = await #expect(throws: HubError.self) {
                _ = try await hub.write(.save(["n": .text("2")]), to: "1", of: "notes", as: .full)
            }
            #expect(single == .unrecorded)
            let writes = [
                HubWrite(1, .save(["n": .text("3")]), of: "1"), HubWrite(2, .save(["n": .text("3")]), of: "2"),
            ]
            let results = try await hub.push(client.batch(writes), as: .full).map(\.result)
            #expect(results.first == .rejected(.invalid(HubError.unrecorded.reason)))
            #expect(results.last?.position != nil)
            #expect(try await hub.document("1", of: "notes", as: .full).fields["n"] == "1")
        }
    }

    /// Followers refuse a page with a position twice.
    @Test("Rows that were copied with their positions don't disturb the first pages", arguments: 1...5)
    func copiedPositions(limit: Int) async throws {
        try await run("") { store, hub, _ in
            for number in 1...4 {
                _ = try await hub.write(
                    .save(["n": .text("\(number)")]), to: "\(number)", of: "notes", as: .full)
            }
            let foreign = try Self.otherProgram(store)
            try await foreign.write { db in
                try db.execute(sql: "INSERT INTO notes(id, n, _position) SELECT 'a' || id, n, _position FROM notes")
                try db.execute(sql: "INSERT INTO notes(id, n, _position) SELECT '0' || id, n, _position FROM notes")
            }
            var pull = HubPull(behind: 0, of: ["notes"])
            (pull.line, pull.limit) = (hub.line, limit)
            var found: [String] = []
            let head = try await hub.head()
            while pull.position < head {
                let page = try await hub.pull(pull, as: .full)
                #expect(page.isInOrder)
                #expect(page.end > pull.position)
                guard page.end > pull.position else { return }
                found += page.changes.map(\.document.id)
                pull.position = page.end
            }
            #expect(found == ["1", "2", "3", "4"])
        }
    }

    @Test("A single write succeeds once the hub has recorded a column that another program has renamed")
    func singleWriteBehindRenamedColumn() async throws {
        try await run("") { store, hub, _ in
            _ = try await hub.write(.save(["n": .text("1")]), to: "1", of: "notes", as: .full)
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: "ALTER TABLE notes RENAME COLUMN t TO u") }
            let save = WriteOperation.save(["n": .text("2"), "u": .text("\"a\"")])
            let outcome = try await hub.write(save, to: "1", of: "notes", as: .full)
            #expect(!outcome.isCreated)
            let document = try await hub.document("1", of: "notes", as: .full)
            #expect(document.fields["n"] == "2")
            #expect(document.fields["u"] == "\"a\"")
        }
    }

    /// The engine refuses every transaction then. A device that parked its writes would have to retry each of them by hand.
    @Test(
        "While a table is dropped or replaced, all writes fail as retryable and none is rejected",
        arguments: [
            "DROP TABLE notes",
            """
            CREATE TABLE fresh_notes(id TEXT PRIMARY KEY NOT NULL, n INTEGER, t TEXT);
            DROP TABLE notes;
            ALTER TABLE fresh_notes RENAME TO notes
            """,
        ])
    func foreignSchemaChangeOfTheStore(statements: String) async throws {
        try await run("") { store, hub, client in
            let save = WriteOperation.save(["n": .text("1")])
            for entity in ["notes", "others"] { _ = try await hub.write(save, to: "1", of: entity, as: .full) }
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: statements) }
            for entity in ["others", "fresh", "notes"] {
                // The answer has no text that could name a table that the client doesn't see.
                let document = DocumentID(entity: entity, id: "2")
                let batch = client.batch([HubWrite(origin: 1, document: document, operation: save, base: 0)])
                await #expect(throws: SyncFailure.retryable(afterMicroseconds: nil), "\(entity)") {
                    try await hub.push(batch, as: .full)
                }
                let single = await #expect(throws: StorageError.self, "\(entity)") {
                    _ = try await hub.write(save, to: "2", of: entity, as: .full)
                }
                #expect(single?.isOfTheStore ?? false, "\(String(describing: single))")
            }
        }
    }

    /// The engine refuses the first commit after such a change, whichever table that is about.
    @Test("A generated column of another program makes no write to other tables fail", arguments: [false, true])
    func generatedColumnOfAnotherTable(isSingle: Bool) async throws {
        try await run("") { store, hub, client in
            let save = WriteOperation.save(["n": .text("1")])
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: "ALTER TABLE notes ADD COLUMN g INTEGER AS (n + 1)") }
            if isSingle {
                _ = try await hub.write(save, to: "1", of: "others", as: .full)
            } else {
                let document = DocumentID(entity: "others", id: "1")
                let results = try await client.push(
                    HubWrite(origin: 1, document: document, operation: save, base: 0))
                #expect(results.first?.position != nil, "\(results)")
            }
            #expect(try await hub.document("1", of: "others", as: .full).fields["n"] == "1")
        }
    }

    @Test("Others in the transaction of a table whose schema was changed are accepted")
    func othersBesideForeignSchemaChange() async throws {
        try await run("") { store, hub, client in
            let foreign = try Self.otherProgram(store)
            try await foreign.write { try $0.execute(sql: "ALTER TABLE notes RENAME COLUMN t TO u") }
            let document = DocumentID(entity: "others", id: "1")
            let other = HubWrite(origin: 1, document: document, operation: .save(["n": .text("1")]), base: 0)
            // It is accepted if the hub has read the new schema by then.
            let changed = client.batch([HubWrite(1, .save(["n": .text("1")]))])
            var batches = [changed]
            for number in 0..<8 { batches.append(try await HubClient("\(number)", hub).batch([other])) }
            let accepted = await withTaskGroup(of: Bool.self) { group in
                for batch in batches {
                    group.addTask {
                        let results = try? await hub.push(batch, as: .full)
                        return batch.producer != changed.producer && results?.first?.result.position != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(accepted == 8)
        }
    }

    @Test(
        "What a trigger ignores or can't compute is invalid",
        arguments: [
            "BEFORE INSERT ON notes WHEN new.n = 7 BEGIN SELECT RAISE(IGNORE); END",
            "BEFORE UPDATE ON notes WHEN new.n = 7 BEGIN SELECT RAISE(IGNORE); END",
            "AFTER INSERT ON notes WHEN new.n = 7 BEGIN SELECT json('?'); END",
            "AFTER UPDATE ON notes WHEN new.n = 7 BEGIN SELECT abs(-9223372036854775807 - 1); END",
        ])
    func refusalByTrigger(trigger: String) async throws {
        try await run("CREATE TRIGGER refusal \(trigger)") { _, hub, client in
            let isInsert = trigger.contains("INSERT")
            if !isInsert { _ = try await hub.write(.save(["n": .text("1")]), to: "1", of: "notes", as: .full) }
            let save = WriteOperation.save(["n": .text("7")])
            let error = await #expect(throws: HubError.self) {
                _ = try await hub.write(save, to: "1", of: "notes", as: .full)
            }
            guard case .invalid = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let results = try await client.push(
                HubWrite(1, save, of: "1"), HubWrite(2, .save(["n": .text("2")]), of: "2"))
            guard case .rejected(.invalid) = results[0], case .applied = results[1] else {
                Issue.record("\(results)")
                return
            }
            let count = try await hub.documents(of: "notes", limit: 10, as: .full).documents.count
            #expect(count == (isInsert ? 1 : 2))
        }
    }

    /// SQLite has the same code for it as for a schema that another program has changed.
    @Test("What a function of a constraint refuses is invalid")
    func refusalByFunction() async throws {
        try await run("ALTER TABLE notes ADD COLUMN c TEXT CHECK (json_extract(c, '$.a') IS NULL)") { _, hub, client in
            let save = WriteOperation.save(["c": .text("\"x\"")])
            let error = await #expect(throws: HubError.self) {
                _ = try await hub.write(save, to: "1", of: "notes", as: .full)
            }
            guard case .invalid(let single) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let results = try await client.push(HubWrite(1, save, of: "1"))
            guard case .rejected(.invalid(let reason)) = results[0] else {
                Issue.record("\(results)")
                return
            }
            for text in [single, reason] { #expect(text.contains("malformed JSON"), "\(text)") }
        }
    }

    @Test("A collection's name and an id aren't empty", arguments: [("", "1"), ("notes", ""), ("others", "")])
    func emptyNames(entity: String, id: String) async throws {
        try await run("") { store, hub, client in
            let document = DocumentID(entity: entity, id: id)
            let write = HubWrite(origin: 1, document: document, operation: .save(["n": .text("1")]), base: 0)
            let results = try await client.push(write)
            guard case .rejected(.invalid) = results[0] else {
                Issue.record("\(results)")
                return
            }
        }
    }

    @Test("A row with an empty id can be changed")
    func existingEmptyId() async throws {
        try await run("INSERT INTO notes VALUES ('', 1, NULL)") { _, _, client in
            let results = try await client.push(HubWrite(1, .patch(["n": .text("2")]), of: ""))
            #expect(results[0].position != nil)
        }
    }

    // MARK: Followers

    /// A follower's copy of what it may see.
    private struct Replica {
        let access: HubAccess
        /// Nil for one that never writes.
        var producer: ProducerID?
        var documents: [DocumentID: [String: String]] = [:]
        var position: Int64 = 0
        /// What it was ever allowed to see.
        var seen: Set<DocumentID> = []

        mutating func pull(_ hub: StoreHub, limit: Int, wait: Duration) async throws {
            var pull = HubPull(behind: position, of: ["notes"])
            pull.line = position == 0 ? nil : hub.line
            pull.limit = limit
            pull.wait = wait
            pull.producer = producer
            let page = try await hub.pull(pull, as: access)
            #expect(page.start == position)
            #expect(page.end >= position)
            #expect(page.isInOrder)
            #expect(page.changes.count <= limit)
            #expect(page.changes.count <= 1 || page.byteCount <= hub.limits.pageBytes)
            for change in page.changes {
                #expect(seen.contains(change.document), "received a document that it could never see")
                switch change.operation {
                case .save(let fields): documents[change.document] = fields.texts
                case .patch: Issue.record("a hub sends whole documents")
                case .delete: documents[change.document] = nil
                }
            }
            position = page.end
        }

        func sees(_ fields: [String: String]) -> Bool {
            switch access.actor {
            case "1": fields["owner"] == #""a""#
            case "2": fields["owner"] == #""b""#
            case "3": fields["n"].flatMap { Int($0) }.map { $0 < 5 } ?? false
            default: true
            }
        }

        func visible(in hub: StoreHub) async throws -> [DocumentID: [String: String]] {
            let all = try await hub.documents(of: "notes", limit: 1_000, as: access).documents
            return Dictionary(
                uniqueKeysWithValues: all.map { (DocumentID(entity: "notes", id: $0.id), $0.fields) })
        }
    }

    /// What each document was behind each event: a page may end behind any.
    private static func states(
        in storage: Storage, behind position: inout Int64
    ) async throws -> [(document: DocumentID, fields: [String: String])] {
        let start = position
        let (states, end) = try await storage.engine.read { db in
            let log = try HubLog(db)
            var (states, end) = ([(document: DocumentID, fields: [String: String])](), start)
            while end < log.head {
                let part = try log.changes(behind: end, through: log.head, limit: 1, bytes: .max)
                for change in part.changes {
                    guard let new = change.new else { continue }
                    states.append(
                        (DocumentID(entity: change.table.name, id: change.id), change.table.fields(of: new).values))
                }
                end = part.end
            }
            return (states, end)
        }
        position = end
        return states
    }

    /// Two of them are equal to Swift.
    private static let ids = ["0", "1", "\u{e9}", "e\u{301}", "4", "5"]

    private static var seeds: ClosedRange<Int> { 1...max(2, Int(8 * testScale)) }

    @Test("Followers see what they may and converge", arguments: seeds)
    func followersSeeWhatTheyMay(seed: Int) async throws {
        var random = PredicateGenerator(seed: UInt64(seed))
        let store = try TemporaryStore()
        let storage = store.storage
        var limits = StoreHub.Limits()
        limits.pageBytes = 3_000
        let hub = try await StoreHub(storage, limits: limits)
        let conditions: [RowPredicate?] = [
            nil, Self.owns("a"), Self.owns("b"), .comparison(column: "n", .less, .value(.integer(5))),
        ]
        var replicas = conditions.enumerated().map { Replica(access: Self.access("\($0)", where: $1)) }
        // Half of the seeds are about devices that have written something, which nobody here follows.
        for index in replicas.indices where seed % 2 == 0 {
            let device = ProducerID("device \(index)")
            _ = try await hub.hello(from: device, epoch: 1, as: .full)
            let write = HubWrite(
                origin: 1, document: DocumentID(entity: "others", id: "\(index)"), operation: .save([:]), base: 0)
            _ = try await hub.push(
                HubBatch(producer: device, epoch: 1, line: hub.line, firstNumber: 1, writes: [write]), as: .full)
            replicas[index].producer = device
        }
        var observed: Int64 = 0
        let writer = ProducerID("writer")
        let welcome = try await hub.hello(from: writer, epoch: 1, as: .full)
        var number = welcome.lastNumber
        for step in 0..<60 {
            let id = Self.ids[Int.random(in: 0..<6, using: &random)]
            let owner = Bool.random(using: &random) ? "a" : "b"
            let value = Int.random(in: 0..<10, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let writes = try (0..<Int.random(in: 1...3, using: &random)).map { offset in
                    let operation: WriteOperation =
                        switch Int.random(in: 0..<4, using: &random) {
                        case 0: .delete
                        case 1: .patch(["owner": try Self.text(owner)])
                        default:
                            .save(
                                try fields(owner, value).merging([
                                    "text": try Self.text(
                                        String(repeating: "x", count: Int.random(in: 0...1_500, using: &random)))
                                ]) { $1 })
                        }
                    return HubWrite(
                        origin: Int64(step * 10 + offset + 1), document: notes(id), operation: operation, base: .max)
                }
                let results = try await hub.push(
                    HubBatch(producer: writer, epoch: 1, line: hub.line, firstNumber: number + 1, writes: writes),
                    as: .full)
                #expect(results.count == writes.count)
                number += Int64(writes.count)
            case 6:
                // The hub's own program, past all that producers do: several events of a row in one commit.
                _ = try? await storage.write { tx in
                    try tx.database.execute(
                        sql: "UPDATE notes SET owner = ?, n = ? WHERE id = ?", arguments: [owner, value, id])
                    try tx.database.execute(sql: "UPDATE notes SET n = n + 1 WHERE n < 3")
                    try tx.database.execute(
                        sql: "DELETE FROM notes WHERE id = ?", arguments: [Self.ids[(value + 1) % 6]])
                }
            default: break
            }
            for state in try await Self.states(in: storage, behind: &observed) {
                for index in replicas.indices where replicas[index].sees(state.fields) {
                    replicas[index].seen.insert(state.document)
                }
            }
            for index in replicas.indices {
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    replicas[index].documents = [:]
                    replicas[index].position = 0
                }
                let wait: Duration = Bool.random(using: &random) ? .zero : .milliseconds(2)
                try await replicas[index].pull(hub, limit: Int.random(in: 1...4, using: &random), wait: wait)
            }
        }
        let head = try await hub.head()
        for index in replicas.indices {
            while replicas[index].position < head {
                try await replicas[index].pull(hub, limit: 3, wait: .milliseconds(20))
            }
            #expect(
                try await replicas[index].visible(in: hub) == replicas[index].documents,
                "replica \(index), seed \(seed)")
        }
    }

    @Test("A waiting pull is woken by what concerns it only", .timeLimit(.minutes(10)))
    func pullWakesOnlyWhenConcerned() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(fields("a", 1)), to: "1", of: "notes", as: .full)
        var pull = HubPull(behind: try await hub.head(), of: ["notes"])
        pull.line = hub.line
        pull.wait = .seconds(20)
        let waiting = Task { [pull] in try await hub.pull(pull, as: Self.access("b", where: Self.owns("b"))) }
        while hub.waitingPulls == 0 { await Task.yield() }
        _ = try await hub.write(.save(fields("a", 2)), to: "1", of: "notes", as: .full)
        _ = try await hub.write(.save(fields("b", 3)), to: "2", of: "notes", as: .full)
        let page = try await waiting.value
        #expect(page.changes.map(\.document.id) == ["2"])
        #expect(page.start == pull.position)
        let stopped = Task { [pull] in try await hub.pull(pull, as: Self.access("c", where: Self.owns("c"))) }
        while hub.waitingPulls == 0 { await Task.yield() }
        hub.stop()
        #expect(try await stopped.value.changes.isEmpty)
    }

    // MARK: Producers

    @Test("Each write is a commit of its client")
    func writesAreClientCommits() async throws {
        let store = try TemporaryStore()
        let storage = store.storage
        let hub = try await StoreHub(storage)
        let producer = Self.access("anna").producer("phone")
        _ = try await hub.hello(from: producer, epoch: 1, as: Self.access("anna"))
        let writes = [
            HubWrite(origin: 7, document: notes("1"), operation: .save(try fields("a", 1)), base: 0),
            HubWrite(origin: 8, document: notes("2"), operation: .patch(["n": try Self.text(2)]), base: 0),
            HubWrite(origin: 9, document: notes("2"), operation: .save(try fields("a", 1)), base: 0),
            HubWrite(origin: 10, document: notes("1"), operation: .patch(["n": try Self.text(2)]), base: 0),
        ]
        let batch = HubBatch(producer: producer, epoch: 1, line: hub.line, firstNumber: 1, writes: writes)
        let results = try await hub.push(batch, as: Self.access("anna"))
        #expect(results.map(\.result.isApplied) == [true, false, false, true])
        #expect(results[1].result == .rejected(.missing))
        #expect(results[2].result == .blocked)
        #expect(try await hub.push(batch, as: Self.access("anna")) == results, "a batch that comes twice")
        let commits = try await storage.changes(since: .position(0), limit: 100).commits.filter {
            $0.events.contains { $0.table == "notes" }
        }
        #expect(commits.map(\.commit.metadata.actor) == ["anna", "anna"])
        let again = try await hub.hello(from: producer, epoch: 2, as: Self.access("anna"))
        #expect(again.lastNumber == 4)
        #expect(again.results == results)
        await #expect(throws: SyncFailure.sessionEnded(epoch: 2)) { try await hub.push(batch, as: Self.access("anna")) }
    }

    @Test("What a client can't see doesn't exist for its writes")
    func hiddenDocumentsAndWrites() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let anna = Self.access("anna", where: Self.owns("a"))
        _ = try await hub.write(.save(fields("b", 1)), to: "1", of: "notes", as: .full)
        await #expect(throws: HubError.notFound) { try await hub.document("1", of: "notes", as: anna) }
        await #expect(throws: HubError.notFound) {
            try await hub.write(.patch(["n": Self.text(2)]), to: "1", of: "notes", as: anna)
        }
        _ = try await hub.write(.delete, to: "1", of: "notes", as: anna)
        #expect(try await hub.document("1", of: "notes", as: .full).fields["n"] == "1", "a deletion of nothing")
        for (owner, id) in [("a", "1"), ("b", "2")] {
            await #expect(throws: HubError.self, "over another's, and for another") {
                try await hub.write(.save(fields(owner, 2)), to: id, of: "notes", as: anna)
            }
        }
        _ = try await hub.write(.save(fields("a", 2)), to: "3", of: "notes", as: anna)
        await #expect(throws: HubError.self, "out of its own sight") {
            try await hub.write(.patch(["owner": Self.text("b")]), to: "3", of: "notes", as: anna)
        }
        #expect(try await hub.documents(of: "notes", limit: 10, as: anna).documents.map(\.id) == ["3"])
        #expect(try await hub.documents(of: "notes", matching: QueryBuilder(), as: anna).documents.map(\.id) == ["3"])
        await #expect(throws: HubError.forbidden) { try await hub.documents(of: "other", limit: 1, as: anna) }
    }

    /// Documents that were hidden to the end of them are none that a write under the same id could give way to, whether the client knows of
    /// the position or not.
    @Test("Documents that were never seen don't conflict")
    func unseenDocumentsNeverConflict() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let anna = Self.access("anna", where: Self.owns("a"))
        let producer = anna.producer("phone")
        _ = try await hub.hello(from: producer, epoch: 1, as: anna)
        var number: Int64 = 0
        func push(_ writes: (WriteOperation, base: Int64)...) async throws -> [WriteResult] {
            let writes = writes.enumerated().map { offset, write in
                HubWrite(
                    origin: number + Int64(offset) + 1, document: notes("z"), operation: write.0, base: write.base,
                    isConditional: true)
            }
            defer { number += Int64(writes.count) }
            return try await hub.push(
                HubBatch(producer: producer, epoch: 1, line: hub.line, firstNumber: number + 1, writes: writes),
                as: anna
            ).map(\.result)
        }
        func full(_ operation: WriteOperation) async throws -> Int64 {
            try await hub.write(operation, to: "z", of: "notes", as: .full).position
        }
        let save = WriteOperation.save(try fields("a", 1))
        let patch = WriteOperation.patch(["n": try Self.text(2)])
        let bobs = WriteOperation.save(try fields("b", 1))
        _ = try await hub.write(save, to: "seed", of: "notes", as: .full)
        let start = try await hub.head()
        _ = try await (full(bobs), full(.delete))
        #expect(try await push((save, start), (patch, start)).allSatisfy(\.isApplied))
        #expect(try await push((patch, start)).allSatisfy(\.isApplied), "of another transaction")

        // What could be seen counts, also where the document was hidden and created again behind it.
        let theirs = try await full(.patch(["n": Self.text(3)]))
        #expect(try await push((patch, start)) == [.rejected(.conflict(at: theirs))])
        #expect(try await push((.delete, theirs)).allSatisfy(\.isApplied))
        _ = try await (full(bobs), full(.delete))
        #expect(try await push((save, start)) == [.rejected(.conflict(at: theirs))])
        #expect(try await push((save, theirs), (patch, theirs)).allSatisfy(\.isApplied))
        let deleted = try await full(.delete)
        _ = try await (full(bobs), full(.delete))
        #expect(try await push((save, deleted - 1)) == [.rejected(.deleted)], "before what was hidden")
        #expect(try await push((.delete, deleted - 1)) == [.rejected(.conflict(at: deleted))])
        #expect(try await push((save, deleted)).allSatisfy(\.isApplied))

        // Pages name nobody either: made of the log, and of its end in memory.
        let (head, behind) = (try await hub.head(), try await StoreHub(store.storage))
        while hub.tail.end < head { await Task.yield() }
        for hub in [hub, behind] {
            var pull = HubPull(behind: deleted, of: ["notes"])
            (pull.line, pull.producer) = (hub.line, producer)
            let change = try #require(try await hub.pull(pull, as: anna).changes.first)
            #expect(change.ownOrigin != nil)
            #expect(change.otherPosition == nil)
        }
    }

    @Test("Deletions win against clients that don't know of them")
    func unknownDeletionsWin() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let one = ProducerID("one")
        _ = try await hub.hello(from: one, epoch: 1, as: .full)
        let created = try await hub.write(.save(fields("a", 1)), to: "1", of: "notes", as: .full).position
        let deleted = try await hub.write(.delete, to: "1", of: "notes", as: .full).position
        let save = { (origin: Int64, base: Int64) in
            HubWrite(origin: origin, document: self.notes("1"), operation: .save(try self.fields("a", 2)), base: base)
        }
        func push(_ write: HubWrite, _ number: Int64) async throws -> WriteResult? {
            try await hub.push(
                HubBatch(producer: one, epoch: 1, line: hub.line, firstNumber: number, writes: [write]), as: .full
            ).first?.result
        }
        #expect(try await push(save(1, created), 1) == .rejected(.deleted))
        #expect(try await push(save(2, deleted), 2)?.isApplied == true)
    }

    /// Values come back as they were sent, whatever their kind, and whatever kind came first.
    @Test("Documents are returned as they were sent")
    func valuesKeepTheirSpelling() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let samples = [
            "1", "-7", "1.5", "1e300", "12345678901234567890123", "true", "false", "\"\"", "\"x\\\"\\u00e9\\n\"",
            "[1,[2]]",
            "{\"a\":{\"b\":null}}", "9007199254740993", "\"true\"", "0", "\"1\"",
        ]
        for (number, sample) in samples.enumerated() {
            for (other, value) in samples.enumerated() {
                let id = "\(number)-\(other)"
                let fields: [String: StorageValue] = [
                    "id": try Self.text(id), "v\(number)": .text(value), "Öl \"x\"": .text(sample),
                    "_position": .text(value),
                ]
                let written = try await hub.write(.save(fields), to: id, of: "samples", as: .full)
                let document = try await hub.document(id, of: "samples", as: .full)
                #expect(document.version == written.version)
                #expect(
                    try document.fields.mapValues(Self.normalized) == fields.texts.mapValues(Self.normalized), "\(id)")
            }
        }
        await #expect(throws: HubError.self, "NUL") {
            try await hub.write(.save(["v0": .text("\"a\\u0000b\"")]), to: "x", of: "samples", as: .full)
        }
    }

    @Test(
        "A number that a double would round is returned as it was sent",
        arguments: [
            "9007199254740993e0", "12345678901234567890e0", "9007199254740993.0", "0.1234567890123456789",
            "0.10000000000000001", "12345678901234567000.0", "-1e400", "1e-400", "0.1", "-2.5",
        ])
    func digitsOfNumbers(number: String) async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        for first in [number, "0.5", "1"] {
            _ = try await hub.write(.save(["v\(first)": .text(first)]), to: "1", of: "samples", as: .full)
            _ = try await hub.write(.save(["v\(first)": .text(number)]), to: "2", of: "samples", as: .full)
            #expect(try await hub.document("2", of: "samples", as: .full).fields["v\(first)"] == number)
        }
    }

    /// As with the names of collections.
    @Test("A field has one spelling")
    func spellingsOfAField() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        _ = try await hub.write(.save([composed: .text("1")]), to: "1", of: "notes", as: .full)
        for (id, operation) in [
            ("1", WriteOperation.patch([decomposed: .text("2")])), ("1", .save([decomposed: .text("2")])),
            ("2", .save([decomposed: .text("2")])),
        ] {
            await #expect {
                _ = try await hub.write(operation, to: id, of: "notes", as: .full)
            } throws: { error in
                (error as? HubError)?.reason.contains("in another Unicode spelling") ?? false
            }
        }
        let documents = try await hub.documents(of: "notes", limit: 9, as: .full).documents
        #expect(documents.map(\.id) == ["1"])
        #expect(documents.first?.fields[composed] == "1")
    }

    /// As deep as a field may be, a document is read by all who read it.
    @Test("Deep values are readable by everybody")
    func deepValues() async throws {
        func deep(_ depth: Int, _ kinds: [(open: String, close: String)]) -> String {
            let levels = (0..<depth).map { kinds[$0 % kinds.count] }
            return levels.map(\.open).joined() + "1" + levels.reversed().map(\.close).joined()
        }
        let (array, object) = (("[", "]"), ("{\"a\":", "}"))
        for kinds in [[array], [object], [array, object]] {
            _ = try HubFields(json: "{\"v\":\(deep(510, kinds))}".utf8)
            #expect(throws: JSONReader.Malformed.self) { try HubFields(json: "{\"v\":\(deep(511, kinds))}".utf8) }
        }
        // Of both kinds, because Foundation takes seconds for each such value.
        let value = deep(510, [array, object])
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let body = try HubFields(json: "{\"v\":\(value)}".utf8)
        _ = try await hub.write(.save(body.columns), to: "1", of: "notes", as: .full)
        let query = QueryBuilder().where("v", isNotEqualTo: 1)
        let found = try await hub.documents(of: "notes", matching: query, as: .full)
        let sent = try #require(try HubDocumentPage(json: found.json).documents.first)
        #expect(sent.fields["v"] == value)
        // As an engine makes a model of it, and writes that again.
        let model = try DocumentFields(sent.fields).document([String: JSONValue].self)
        #expect(try DocumentFields(encoding: model).values["v"] == value)
        #expect(try JSONValue(encoding: model) == .object(model))
    }

    private static func normalized(_ json: String) throws -> NSObject? {
        try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed) as? NSObject
    }
}

extension WriteResult {
    fileprivate var isApplied: Bool { if case .applied = self { true } else { false } }
}
