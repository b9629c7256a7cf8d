import StorageCore
import StorageKit
import StorageLog
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// How much a page of a hub has, and when it comes.
@Suite(.timeLimit(.minutes(10))) struct HubPageTests {
    private static func text(_ value: some Encodable) throws -> StorageValue { .text(try JSONText.of(value)) }

    private static func limits(_ bytes: Int) -> StoreHub.Limits {
        var limits = StoreHub.Limits()
        limits.pageBytes = bytes
        return limits
    }

    // MARK: Bytes

    /// Events are small here, and rows are large.
    @Test("A page has a limit of bytes", arguments: [false, true])
    func pageSizeLimit(ofTail: Bool) async throws {
        let store = try TemporaryStore()
        let storage = store.storage
        var hub = try await StoreHub(storage, limits: Self.limits(20_000))
        try await Self.save(40, to: hub)
        let start = try await hub.head()
        try await storage.write { tx in
            try tx.database.execute(sql: "UPDATE notes SET n = 1")
            try tx.database.execute(sql: "DELETE FROM notes WHERE id = '7'")
        }
        // The tail of another one begins behind all that.
        if !ofTail { hub = try await StoreHub(storage, limits: Self.limits(20_000)) }
        for first in [0, start] {
            let pages = try await Self.pages(of: hub, behind: first, waitsForTail: ofTail)
            #expect(pages.count > 1)
            #expect(pages.allSatisfy { $0.changes.count <= 1 || $0.byteCount <= 20_000 })
            let last = Dictionary(pages.flatMap(\.changes).map { ($0.document.id, $0.operation) }) { $1 }
            #expect(last.values.count { $0 != .delete } == 39)
            #expect((first == 0 || last.count == 40))
        }
    }

    /// Rows that are small now were large at the end of the part of the log that is read, which is what a condition is about.
    @Test("Rows count with the size they had then")
    func pastRowSizes() async throws {
        let store = try TemporaryStore()
        let storage = store.storage
        let hub = try await StoreHub(storage, limits: Self.limits(20_000))
        try await Self.save(12, to: hub)
        let start = try await hub.head()
        try await storage.write { tx in
            try tx.database.execute(sql: "UPDATE notes SET n = 1")
            try tx.database.execute(sql: "UPDATE notes SET t = 'y' WHERE n = 1")
        }
        let behind = try await StoreHub(storage, limits: Self.limits(20_000))
        // Few enough events that the large rows are seen.
        let limited = HubAccess(
            actor: "ada", namespace: "ada",
            grants: [
                .init(
                    entity: "notes", reads: true, writes: false,
                    condition: .any([.isNull(column: "n"), .constant(true)]))
            ])
        let pages = try await Self.pages(of: behind, behind: start, limit: 12, as: limited)
        #expect(pages.allSatisfy { $0.changes.count <= 1 || $0.byteCount <= 20_000 })
        #expect(pages.count > 1)
        let last = Dictionary(pages.flatMap(\.changes).map { ($0.document.id, $0.operation) }) { $1 }
        #expect(last.count == 12)
        for operation in last.values {
            guard case .save(let values) = operation else { continue }
            #expect(values.texts["t"] == #""y""#)
        }
    }

    /// A follower that begins behind a long history gets each document once or twice, also where all are changed again and again.
    @Test("A long history isn't sent again", arguments: [nil, RowPredicate.not(.isNull(column: "t"))])
    func longHistoryIsNotResent(condition: RowPredicate?) async throws {
        let access = HubAccess(
            actor: "ada", namespace: "ada",
            grants: [.init(entity: "notes", reads: true, writes: false, condition: condition)])
        let store = try TemporaryStore()
        let storage = store.storage
        let first = try await StoreHub(storage)
        try await Self.save(40, to: first)
        for round in 1...30 {
            try await storage.write { tx in
                try tx.database.execute(sql: "UPDATE notes SET n = ? WHERE id % 7 <> 3", arguments: [round])
                try tx.database.execute(sql: "DELETE FROM notes WHERE id = ?", arguments: ["\(round)"])
            }
        }
        let hub = try await StoreHub(storage)
        let pages = try await Self.pages(of: hub, behind: 0, limit: 10, as: access)
        var documents: [String: String?] = [:]
        for change in pages.flatMap(\.changes) {
            if case .save(let values) = change.operation { documents[change.document.id] = values.texts["n"] }
            if change.operation == .delete { documents[change.document.id] = nil }
        }
        #expect(documents.count == 10)
        #expect(pages.flatMap(\.changes).count <= 2 * 40)
        for id in documents.keys {
            let document = try await hub.document(id, of: "notes", as: .full)
            #expect(documents[id] == document.fields["n"])
        }
    }

    /// A device that is behind has written over what another one did, whose change it hasn't seen. It gets the document as it is now with
    /// the page that has the other's change: behind that page nothing else would tell it, and it would write on what it doesn't know.
    @Test("A writer gets what others did before")
    func writerGetsEarlierChanges() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        try await Self.save(8, to: hub)
        let start = try await hub.head()
        var (two, three) = (try await HubClient("two", hub), try await HubClient("three", hub))
        _ = try await two.push(all: [HubWrite(1, .patch(["n": Self.text(1)]), of: "1")])
        try await store.storage.write { try $0.database.execute(sql: "UPDATE notes SET n = 7 WHERE id <> '1'") }
        _ = try await three.push(all: [HubWrite(1, .patch(["u": Self.text(2)]), of: "1")])
        let behind = try await StoreHub(store.storage)
        var pull = HubPull(behind: start, of: ["notes"])
        (pull.line, pull.limit, pull.producer) = (hub.line, 2, HubAccess.full.producer("three"))
        let change = try #require(
            try await behind.pull(pull, as: .full).changes.first { $0.document.id == "1" }, "it has written")
        guard case .save(let values) = change.operation else {
            Issue.record("\(change)")
            return
        }
        #expect(values.texts["n"] == "1")
        #expect(values.texts["u"] == "2")
        // Others get the last change, which is another's, behind that page.
        pull.producer = nil
        #expect(try await behind.pull(pull, as: .full).changes.allSatisfy { $0.document.id != "1" })
    }

    /// Whatever was written on the document before its deletion isn't for the one that has its id now.
    @Test("A deletion is never skipped")
    func deletionsAreNeverSkipped() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        try await Self.save(2, to: hub)
        let start = try await hub.head()
        try await store.storage.write { tx in
            try tx.database.execute(sql: "DELETE FROM notes WHERE id = '1'")
            try tx.database.execute(sql: "INSERT INTO notes(id, n) VALUES ('1', 5)")
        }
        try await store.storage.write { try $0.database.execute(sql: "UPDATE notes SET n = 6") }
        let behind = try await StoreHub(store.storage)
        var pull = HubPull(behind: start, of: ["notes"])
        (pull.line, pull.limit) = (hub.line, 2)
        #expect(try await behind.pull(pull, as: .full).changes.map(\.document.id) == ["1"])
    }

    /// One document that is larger than a page is a page.
    @Test("A large document is a page by itself")
    func oversizedDocument() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage, limits: Self.limits(1_000))
        let large = try Self.text(String(repeating: "x", count: 5_000))
        for id in ["1", "2"] { _ = try await hub.write(.save(["t": large]), to: id, of: "notes", as: .full) }
        let start = try await hub.head()
        for id in ["1", "2"] {
            _ = try await hub.write(.save(["t": large, "u": large]), to: id, of: "notes", as: .full)
        }
        for first in [0, start] {
            let pages = try await Self.pages(of: hub, behind: first, waitsForTail: true)
            #expect(pages.flatMap(\.changes).map(\.document.id) == ["1", "2"])
            #expect(pages.allSatisfy { $0.changes.count <= 1 })
        }
    }

    /// A follower of several collections brings one that is behind to the position of the others.
    @Test("A page ends where it is asked to")
    func lastPosition() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        try await Self.save(6, to: hub)
        let head = try await hub.head()
        var pull = HubPull(behind: head - 4, of: ["notes"])
        (pull.line, pull.lastPosition) = (hub.line, head - 1)
        let page = try await hub.pull(pull, as: .full)
        #expect(page.end == head - 1)
        #expect(page.changes.map(\.document.id) == ["2", "3", "4"])
        pull.position = page.end
        #expect(try await hub.pull(pull, as: .full) == SyncPage(start: head - 1, end: head - 1, changes: []))
    }

    /// So many notes of 3,000 bytes.
    private static func save(_ count: Int, to hub: StoreHub) async throws {
        var one = try await HubClient("one", hub)
        let fields = ["t": try text(String(repeating: "x", count: 3_000)), "n": try text(0)]
        _ = try await one.push(all: (0..<count).map { HubWrite(Int64($0) + 1, .save(fields), of: "\($0)") })
    }

    /// The pages of notes up to the head.
    private static func pages(
        of hub: StoreHub, behind start: Int64, limit: Int = 1_000, waitsForTail: Bool = false,
        as access: HubAccess = .full
    ) async throws -> [SyncPage] {
        let head = try await hub.head()
        while waitsForTail, hub.tail.end < head { await Task.yield() }
        var pull = HubPull(behind: start, of: ["notes"])
        (pull.line, pull.limit) = (hub.line, limit)
        var pages: [SyncPage] = []
        while pull.position < head {
            let page = try await hub.pull(pull, as: access)
            #expect(page.start == pull.position)
            #expect(page.end > page.start)
            pages.append(page)
            pull.position = page.end
        }
        return pages
    }

    // MARK: Spellings

    /// To Swift they are equal; to SQLite, to JavaScript and on the way they are two.
    private static let spellings = ["\u{e9}", "e\u{301}"]

    @Test("Two spellings of an id are two documents")
    func idsCompareByBytes() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        for (number, id) in Self.spellings.enumerated() {
            _ = try await hub.write(.save(["n": Self.text(number)]), to: id, of: "notes", as: .full)
        }
        let start = try await hub.head()
        try await store.storage.write { try $0.database.execute(sql: "UPDATE notes SET n = n + 10") }
        var pull = HubPull(behind: start, of: ["notes"])
        pull.line = hub.line
        let both = try await hub.pull(pull, as: .full).changes
        #expect(both.map { Array($0.document.id.utf8) } == Self.spellings.map { Array($0.utf8) })
        for (number, id) in Self.spellings.enumerated() {
            pull.document = id
            let change = try #require(try await hub.pull(pull, as: .full).changes.first)
            guard case .save(let values) = change.operation else { continue }
            #expect(values.texts["n"] == "\(number + 10)")
        }
        await #expect(throws: HubError.self, "another spelling of a collection's name") {
            for name in Self.spellings {
                _ = try await hub.write(.save([:]), to: "1", of: name, as: .full)
            }
        }
    }

    // MARK: Waiting

    @Test("A failed read is repeated")
    func failedReadIsRepeated() async throws {
        let tail = HubTail(head: 0, catalog: Catalog())
        var reads = 0
        await StoreHub.follow(tail, retryingAfter: .milliseconds(1)) { position in
            reads += 1
            if reads < 3 { throw StorageError(.busy, "Not now.", remedy: "Wait.") }
            return ([], position + 5, position + 5, Catalog())
        }
        #expect(reads == 3)
        #expect(tail.end == 5)
        await StoreHub.follow(tail) { _ in throw StorageError.closed() }
        #expect(tail.end == 5)
    }

    /// However much is committed at once: followers that had to read the log for it would fall behind even more.
    @Test("Followers find every part in memory")
    func followersReadFromMemory() async throws {
        let store = try TemporaryStore()
        let hub = try await StoreHub(store.storage)
        _ = try await hub.write(.save(["n": Self.text(0)]), to: "first", of: "notes", as: .full)
        let start = try await hub.head()
        while hub.tail.end < start { await Task.yield() }
        try await store.storage.write { tx in
            try tx.database.execute(
                sql: """
                    INSERT INTO notes(id, n) SELECT 'n' || value, value FROM
                    (WITH RECURSIVE counter(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM counter WHERE value < 2500)
                     SELECT value FROM counter)
                    """)
        }
        let head = try await hub.head()
        while hub.tail.end < head { await Task.yield() }
        let pull = HubPull(behind: start, of: ["notes"])
        let scope = HubScope(pull, .full)
        var (position, ids): (Int64, Set<String>) = (start, [])
        while position < head {
            let part = try #require(hub.tail.changes(behind: position, in: scope, limit: pull.limit, bytes: 4 << 20))
            ids.formUnion(part.changes.map(\.document.id))
            position = part.end
        }
        #expect(ids.count == 2_500)
    }

    /// What was committed while a hub begins is among what it reads.
    @Test("A hub that starts among commits misses none")
    func startingAmongCommits() async throws {
        let store = try TemporaryStore()
        let storage = store.storage
        let first = try await StoreHub(storage)
        _ = try await first.write(.save(["n": Self.text(0)]), to: "1", of: "notes", as: .full)
        for round in 1...20 {
            async let written = first.write(.save(["n": Self.text(round)]), to: "1", of: "notes", as: .full)
            let hub = try await StoreHub(storage)
            let position = try await written.position
            try await eventually { hub.tail.end >= position }
        }
    }
}

extension SyncPage {
    /// Of the fields of its documents.
    var byteCount: Int {
        changes.reduce(0) { total, change in
            switch change.operation {
            case .save(let values), .patch(let values):
                values.texts.reduce(total) { $0 + $1.key.utf8.count + $1.value.utf8.count }
            case .delete: total
            }
        }
    }
}
