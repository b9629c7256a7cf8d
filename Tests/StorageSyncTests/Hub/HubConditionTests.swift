import Foundation
import StorageCore
import StorageKit
import StorageTesting
import Testing

@testable import StorageSync

/// Conditions mean a document's values, whatever value its column began with.
struct HubConditionTests {
    private static let samples = [
        "\"x\"", "\"draft\"", "\"1\"", "\"[1]\"", "\"\"", "1", "0", "-7", "1.5", "1e300", "1e400",
        "12345678901234567890123", "true", "false", "[1]", "{\"a\":1}", "null",
    ]

    private static func access(_ condition: RowPredicate?) -> HubAccess {
        HubAccess(
            actor: "ada", namespace: "ada",
            grants: [.init(entity: "notes", reads: true, writes: true, condition: condition)])
    }

    private static func value(_ comparison: RowPredicate.Comparison, _ value: StorageValue) -> RowPredicate {
        .comparison(column: "v", comparison, .value(value))
    }

    private static let conditions: [RowPredicate] = [
        value(.notEqual, .text("draft")), value(.equal, .text("draft")), .not(value(.equal, .text("draft"))),
        .not(value(.equal, .integer(1))), value(.equal, .integer(1)), value(.less, .integer(5)),
        value(.greater, .real(1.25)), .not(.among(column: "v", [.text("draft"), .integer(0)])),
        .isNull(column: "v"), .not(.isNull(column: "v")), .not(.like(column: "v", pattern: "dr%")),
    ]

    /// What a value is to a condition, without any column.
    private static func meets(_ condition: RowPredicate, _ json: String) throws -> Bool {
        let object = try? JSONSerialization.jsonObject(with: Data("[\(json)]".utf8)) as? [Any]
        let value: StorageValue
        switch (json.first, object?.first) {
        case ("n", _): value = .null
        case ("t", _): value = .integer(1)
        case ("f", _): value = .integer(0)
        case ("\"", let text as String): value = .text(text)
        case ("[", _), ("{", _): value = .blob(Data(json.utf8))
        default: value = try Int64(json).map { .integer($0) } ?? .real(#require(Double(json)))
        }
        return try PredicateEvaluator(condition, columns: [EvaluatedColumn(name: "v", affinity: .blob)])
            .evaluate([value]) ?? false
    }

    /// By id, in lists, queries, the first page, the changes behind it, and in what may be written.
    @Test("A condition compares values, not their spelling", arguments: ["\"x\"", "1", "1.5", "true", "[1]"])
    func conditionsCompareValues(first: String) async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(["v": .text(first)]), to: "first", of: "notes", as: .full)
        let start = try await hub.head()
        for (number, json) in Self.samples.enumerated() {
            _ = try await hub.write(.save(["v": .text(json)]), to: "\(number)", of: "notes", as: .full)
        }
        for condition in Self.conditions {
            let access = Self.access(condition)
            var expected: Set<String> = try Self.meets(condition, first) ? ["first"] : []
            for (number, json) in Self.samples.enumerated() where try Self.meets(condition, json) {
                expected.insert("\(number)")
            }
            let list = try await hub.documents(of: "notes", limit: 100, as: access)
            #expect(Set(list.documents.map(\.id)) == expected, "\(condition)")
            #expect(!list.hasMore, "\(condition)")
            let query = try await hub.documents(of: "notes", matching: QueryBuilder(), as: access)
            #expect(Set(query.documents.map(\.id)) == expected, "\(condition)")
            let page = try await hub.pull(HubPull(behind: 0, of: ["notes"]), as: access)
            #expect(Set(page.changes.map(\.document.id)) == expected, "\(condition)")
            var pull = HubPull(behind: start, of: ["notes"])
            pull.line = hub.line
            var changed: Set<String> = []
            // The hub reads its log beside its writes, so a page may end before the last one.
            while true {
                let page = try await hub.pull(pull, as: access)
                guard page.end > pull.position else { break }
                changed.formUnion(page.changes.map(\.document.id))
                pull.position = page.end
            }
            #expect(changed == expected.subtracting(["first"]), "\(condition)")
            for (number, json) in Self.samples.enumerated() {
                let isVisible = (try? await hub.document("\(number)", of: "notes", as: access)) != nil
                #expect(isVisible == expected.contains("\(number)"), "\(condition) \(json)")
                let save = WriteOperation.save(["v": .text(json)])
                let isTaken = (try? await hub.write(save, to: "\(number)", of: "notes", as: access)) != nil
                #expect(isTaken == expected.contains("\(number)"), "\(condition) \(json)")
            }
        }
    }

    /// What a client may see, and neither who it is nor what it may write.
    @Test("What can be read has a fingerprint")
    func accessFingerprint() throws {
        func fingerprint(_ grants: HubAccess.Grant..., actor: String = "ada") throws -> String {
            try HubAccess(actor: actor, namespace: actor, grants: grants).fingerprint
        }
        func notes(
            _ condition: RowPredicate? = nil, reads: Bool = true, writes: Bool = false
        ) -> HubAccess.Grant { .init(entity: "notes", reads: reads, writes: writes, condition: condition) }
        let all = HubAccess.Grant(entity: nil, reads: true, writes: false)
        let tasks = HubAccess.Grant(entity: "tasks", reads: true, writes: false)
        let others = try [
            fingerprint(), fingerprint(all), fingerprint(all, notes(reads: false)), fingerprint(notes()),
            fingerprint(notes(), tasks),
            fingerprint(notes(Self.value(.equal, .text("1")))), fingerprint(notes(Self.value(.equal, .integer(1)))),
            fingerprint(notes(Self.value(.equal, .text("1\", \"2")))),
            fingerprint(notes(.among(column: "v", [.text("1"), .text("2")]))),
        ]
        #expect(Set(others).count == others.count)
        #expect(try fingerprint(notes(), actor: "bob") == fingerprint(notes()))
        #expect(try fingerprint(notes(writes: true)) == fingerprint(notes()))
        #expect(try fingerprint(tasks, notes()) == fingerprint(notes(), tasks))
        #expect(try fingerprint(notes(), notes(.isNull(column: "v"))) == fingerprint(notes()), "the first one counts")
        #expect(try fingerprint(tasks, notes(reads: false)) == fingerprint(tasks))
    }

    @Test("Pages are filled with visible documents")
    func fullPagesOfVisibleDocuments() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(["v": .text("[]")]), to: "first", of: "notes", as: .full)
        for number in 10..<30 {
            let value = number % 3 == 0 ? "\"draft\"" : "\"open\""
            _ = try await hub.write(.save(["v": .text(value)]), to: "\(number)", of: "notes", as: .full)
        }
        let access = Self.access(Self.value(.equal, .text("open")))
        let expected = (10..<30).filter { $0 % 3 > 0 }.map { "\($0)" }
        var (ids, last): ([String], String?) = ([], nil)
        repeat {
            let page = try await hub.documents(of: "notes", behind: last, limit: 4, as: access)
            ids += page.documents.map(\.id)
            #expect(page.documents.count == 4 || !page.hasMore)
            last = page.hasMore ? page.documents.last?.id : nil
        } while last != nil
        #expect(ids == expected)
        var pull = HubPull(behind: 0, of: ["notes"])
        pull.limit = 4
        ids = []
        while true {
            let page = try await hub.pull(pull, as: access)
            ids += page.changes.map(\.document.id)
            if page.end == page.start { break }
            (pull.position, pull.line) = (page.end, hub.line)
        }
        #expect(ids == expected)
    }

    /// A number that no computation takes is stored, and doesn't keep the rest from being found.
    @Test("A number beyond all others doesn't disturb queries")
    func hugeNumbersInQueries() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(["v": .text("1e400"), "w": .text("1")]), to: "1", of: "notes", as: .full)
        _ = try await hub.write(.save(["v": .text("2"), "w": .text("1")]), to: "2", of: "notes", as: .full)
        let found = try await hub.documents(of: "notes", matching: QueryBuilder().where("w", isEqualTo: 1), as: .full)
        #expect(found.documents.map(\.id) == ["1", "2"])
        #expect(found.documents.first?.fields["v"] == "1e400")
        let larger = QueryBuilder().where("v", isGreaterThan: 1)
        let twos = try await hub.documents(of: "notes", matching: larger, as: .full)
        #expect(twos.documents.map(\.id) == ["2"])
    }

    /// What a constraint says of rows that a client doesn't see isn't for it.
    @Test("Constraint errors reveal nothing about hidden rows")
    func hiddenRowsInConstraints() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let hidden = WriteOperation.save(["owner": .text(#""bob""#), "email": .text(#""bob@example.org""#)])
        _ = try await hub.write(hidden, to: "1", of: "accounts", as: .full)
        try await store.storage.write { try $0.execute("CREATE UNIQUE INDEX accounts_by_email ON accounts(email)") }
        let condition = RowPredicate.comparison(column: "owner", .equal, .value(.text("ada")))
        let grants = [HubAccess.Grant(entity: "accounts", reads: true, writes: true, condition: condition)]
        let ada = HubAccess(actor: "ada", namespace: "ada", grants: grants)
        let save = WriteOperation.save(["owner": .text(#""ada""#), "email": .text(#""bob@example.org""#)])
        var reasons: [String] = []
        do { _ = try await hub.write(save, to: "2", of: "accounts", as: ada) } catch let error as HubError {
            reasons.append(error.reason)
        }
        _ = try await hub.hello(from: ada.producer("p"), epoch: 1, as: ada)
        let write = HubWrite(origin: 1, document: DocumentID(entity: "accounts", id: "2"), operation: save, base: 0)
        let batch = HubBatch(
            producer: ada.producer("p"), epoch: 1, line: hub.line, firstNumber: 1, writes: [write])
        if case .rejected(.invalid(let reason)) = try await hub.push(batch, as: ada).first?.result {
            reasons.append(reason)
        }
        #expect(reasons.count == 2)
        for reason in reasons {
            #expect(!reason.contains("UNIQUE"), "\(reason)")
            #expect(!reason.contains("email"), "\(reason)")
        }
        do { _ = try await hub.write(save, to: "2", of: "accounts", as: .full) } catch let error as HubError {
            #expect(error.reason.contains("email"), "who sees all sees the reason")
        }
    }

    // MARK: Columns that go

    /// Waiting and new requests get that error, and no other answer.
    @Test(
        "A condition on a dropped column grants nothing",
        arguments: ["RENAME COLUMN owner TO holder", "DROP COLUMN owner"])
    func conditionOnDroppedColumn(change: String) async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let fields: [String: StorageValue] = ["owner": .text(#""ada""#), "n": .text("1")]
        for collection in ["notes", "others"] {
            _ = try await hub.write(.save(fields), to: "1", of: collection, as: .full)
        }
        let condition = RowPredicate.all([.comparison(column: "owner", .equal, .value(.text("ada")))])
        let ada = HubAccess(
            actor: "ada", namespace: "ada",
            grants: [
                .init(entity: "notes", reads: true, writes: true, condition: condition),
                .init(entity: "others", reads: true, writes: true),
            ])
        var pull = HubPull(behind: try await hub.head(), of: ["notes"])
        (pull.line, pull.wait) = (hub.line, .seconds(20))
        let waiting = Task { [pull] in try await hub.pull(pull, as: ada) }
        while hub.waitingPulls == 0 { await Task.yield() }
        // A column that comes ends no waiting.
        _ = try await hub.write(.patch(["fresh": .text("1")]), to: "1", of: "others", as: .full)
        let start = try await hub.head()
        while hub.tail.end < start || hub.waitingPulls == 0 { await Task.yield() }
        let scope = HubScope(pull, ada)
        #expect(hub.tail.changes(behind: start, in: scope, limit: 9, bytes: .max) != nil)
        try await store.storage.write { try $0.execute("ALTER TABLE notes \(change)") }
        await #expect(throws: HubError.outdatedCondition) { try await waiting.value }
        #expect(hub.tail.changes(behind: start, in: scope, limit: 9, bytes: .max) == nil, "it can't tell")

        let head = try await hub.write(.save(["n": .text("2")]), to: "2", of: "notes", as: .full).position
        while hub.tail.end < head { await Task.yield() }
        for position in [0, pull.position, start, head - 1] {
            var late = HubPull(behind: position, of: ["notes", "others"])
            late.line = hub.line
            await #expect(throws: HubError.outdatedCondition, "behind \(position)") {
                try await hub.pull(late, as: ada)
            }
        }
        await #expect(throws: HubError.outdatedCondition) { try await hub.document("1", of: "notes", as: ada) }
        await #expect(throws: HubError.outdatedCondition) { try await hub.documents(of: "notes", limit: 9, as: ada) }
        await #expect(throws: HubError.outdatedCondition) {
            try await hub.documents(of: "notes", matching: QueryBuilder(), as: ada)
        }
        let patch = WriteOperation.patch(["n": .text("3")])
        await #expect(throws: HubError.outdatedCondition) { try await hub.write(patch, to: "1", of: "notes", as: ada) }
        // A batch waits for another token as a whole, and isn't parked.
        _ = try await hub.hello(from: ada.producer("p"), epoch: 1, as: ada)
        let writes = ["others", "notes"].enumerated().map { origin, entity in
            HubWrite(
                origin: Int64(origin) + 1, document: DocumentID(entity: entity, id: "1"), operation: patch, base: .max)
        }
        let batch = HubBatch(
            producer: ada.producer("p"), epoch: 1, line: hub.line, firstNumber: 1, writes: writes)
        await #expect(throws: HubError.outdatedCondition) { try await hub.push(batch, as: ada) }
        #expect(try await hub.documents(of: "others", limit: 9, as: ada).documents.map { $0.fields["n"] } == ["1"])
    }

    /// A field becomes a column with the first document that has it.
    @Test("A condition on a column that never was matches no row")
    func conditionOnUnknownColumn() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        let access = Self.access(.comparison(column: "owner", .equal, .value(.text("ada"))))
        _ = try await hub.write(.save(["n": .text("1")]), to: "1", of: "notes", as: .full)
        #expect(try await hub.documents(of: "notes", limit: 9, as: access).documents.isEmpty)
        let head = try await hub.head()
        while hub.tail.end < head { await Task.yield() }
        #expect(try await hub.pull(HubPull(behind: 0, of: ["notes"]), as: access).changes.isEmpty)
        // The log was asked once whether there was such a column: from there on followers find what they need in memory.
        let scope = HubScope(HubPull(behind: head, of: ["notes"]), access)
        func isInMemory(_ scope: HubScope) -> Bool {
            hub.tail.changes(behind: head, in: scope, limit: 9, bytes: .max) != nil
        }
        #expect(isInMemory(scope))
        let other = Self.access(.comparison(column: "holder", .equal, .value(.text("ada"))))
        #expect(!isInMemory(HubScope(HubPull(behind: head, of: ["notes"]), other)), "about another one")
        _ = try await hub.write(.save(["owner": .text(#""ada""#)]), to: "2", of: "notes", as: access)
        #expect(try await hub.documents(of: "notes", limit: 9, as: access).documents.map(\.id) == ["2"])
        let made = try await hub.head()
        while hub.tail.end < made { await Task.yield() }
        var pull = HubPull(behind: head, of: ["notes"])
        pull.line = hub.line
        #expect(try await hub.pull(pull, as: access).changes.map(\.document.id) == ["2"])
        try await store.storage.write { try $0.execute("ALTER TABLE notes RENAME COLUMN owner TO holder") }
        let renamed = try await hub.head()
        while hub.tail.end < renamed { await Task.yield() }
        await #expect(throws: HubError.outdatedCondition, "it was there once") { try await hub.pull(pull, as: access) }
    }

    /// A document without the field is like one from before there was such a field.
    @Test(
        "A column that comes makes no row visible",
        arguments: [
            RowPredicate.any([
                .comparison(column: "owner", .equal, .value(.text("ada"))), value(.equal, .integer(1)),
            ]),
            .isNull(column: "v"), .not(.isNull(column: "v")), .not(value(.equal, .integer(1))),
            .any([.between(column: "v", .integer(0), .integer(9)), .among(column: "owner", [.text("ada")])]),
            .any([.like(column: "v", pattern: "%"), .like(column: "owner", pattern: "a%")]),
        ])
    func columnThatComes(condition: RowPredicate) async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        for (id, owner) in [("1", #""ada""#), ("2", #""bob""#)] {
            _ = try await hub.write(.save(["owner": .text(owner)]), to: id, of: "notes", as: .full)
        }
        let access = Self.access(condition)
        func listed() async throws -> Set<String> {
            Set(try await hub.documents(of: "notes", limit: 9, as: access).documents.map(\.id))
        }
        let before = try await listed()
        let page = try await hub.pull(HubPull(behind: 0, of: ["notes"]), as: access)
        var followed = Set(page.changes.map(\.document.id))
        #expect(followed == before)
        _ = try await hub.write(.save(["owner": .text(#""cat""#), "v": .text("1")]), to: "3", of: "notes", as: .full)
        _ = try await hub.write(.save(["v": .text("\"x\"")]), to: "4", of: "notes", as: .full)
        let last = try await hub.write(.save(["owner": .text(#""dan""#)]), to: "5", of: "notes", as: .full)
        while hub.tail.end < last.position { await Task.yield() }
        var pull = HubPull(behind: page.end, of: ["notes"])
        pull.line = hub.line
        followed.formUnion(try await hub.pull(pull, as: access).changes.map(\.document.id))
        #expect(try await listed() == followed)
        #expect(try await listed().intersection(["1", "2"]) == before)
    }

    /// What a column held that came and went isn't unknown.
    @Test("A live query ends where a column of its condition came and went", .timeLimit(.minutes(10)))
    func columnThatCameAndWent() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(["n": .text("1")]), to: "1", of: "notes", as: .full)
        let feed = try hub.follow(
            "notes", matching: QueryBuilder(), after: nil, as: Self.access(.isNull(column: "owner")))
        guard case .snapshot(let snapshot, _) = try await feed.next(within: .seconds(60)) else {
            Issue.record("it begins with a snapshot")
            return
        }
        #expect(snapshot.documents.map(\.id) == ["1"])
        _ = try await hub.write(.save(["owner": .text(#""bob""#)]), to: "hidden", of: "notes", as: .full)
        try await store.storage.write { try $0.execute("ALTER TABLE notes DROP COLUMN owner") }
        await #expect(throws: HubError.outdatedCondition) {
            while true {
                let message = "\(try await feed.next(within: .seconds(60)))"
                #expect(!message.contains("hidden"))
            }
        }
    }
}
