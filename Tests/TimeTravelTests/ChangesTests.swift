import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Changes can be followed from any place: each comes once, in order, whole.
@Suite struct ChangesTests {
    private static func store() throws -> TemporaryStore {
        var configuration = StorageConfig()
        configuration.segmentLength = 8
        return try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
    }

    /// Commits of many sizes, some longer than a row of the log.
    private static func fill(_ storage: Storage, commits: Int) async throws {
        for round in 0..<commits {
            try await storage.write(actor: round % 3 == 0 ? "anna" : "ben") { tx in
                var random = SplitMix64(seed: UInt64(round))
                for number in 0...(round % 7 == 6 ? 20 : round % 4) {
                    if random.chance(50) {
                        try tx.save(Note(id: number, text: "\(round)"))
                    } else {
                        try tx.save(Person(id: "\(number)", name: "\(round)", age: nil, score: 0))
                    }
                }
            }
            if round % 5 == 4 { try await storage.seal() }
        }
    }

    private static let queries: [LogQuery] = {
        var anna = LogQuery(tables: ["notes"])
        anna.actors = ["anna"]
        var schema = LogQuery()
        schema.includesSchema = true
        return [LogQuery(), LogQuery(tables: ["notes"]), anna, schema, LogQuery(tables: ["nothing"])]
    }()

    @Test("Pages of every size add up to the whole", arguments: 0..<5)
    func pagesOfEverySize(_ query: Int) async throws {
        let store = try Self.store()
        let query = Self.queries[query]
        try await Self.fill(store.storage, commits: 16)
        let whole = try await store.storage.allEvents(query)
        let sizes = Dictionary(grouping: whole, by: \.commit.number).mapValues(\.count)
        for limit in 1...whole.count + 1 {
            // Every day, short pages and those that end where a commit or all of it does.
            let isChosen = limit <= 12 || sizes.values.contains(limit) || limit >= whole.count - 1
            guard isChosen || testScale > 1 else { continue }
            var events: [StorageEvent] = []
            var unfinished: Int64?
            var page = try await store.storage.changes(since: .position(0), matching: query, limit: limit)
            while true {
                #expect(page.events.count <= limit)
                for change in page.commits {
                    let size = try #require(sizes[change.commit.number])
                    #expect(change.beginsCommit == (unfinished != change.commit.number))
                    #expect(change.isWhole == (size <= limit))
                    #expect(!change.events.isEmpty)
                    #expect(change.events.allSatisfy { $0.commit == change.commit })
                    unfinished = change.endsCommit ? nil : change.commit.number
                }
                events += page.events
                #expect(page.hasMore == (events.count < whole.count))
                guard page.hasMore else { break }
                // What a program keeps is a text.
                let token = try JSONDecoder().decode(ChangeToken.self, from: JSONEncoder().encode(page.next))
                #expect(token == page.next)
                page = try await store.storage.changes(since: token, matching: query, limit: limit)
            }
            #expect(events == whole, "limit \(limit)")
            #expect(unfinished == nil, "limit \(limit)")
            #expect(page.next.position == store.storage.head)
        }
    }

    /// A page that takes in more of the log than one read of the store goes through.
    @Test("One page may take many reads of the log")
    func pageOfManyReads() async throws {
        var configuration = StorageConfig()
        configuration.segmentLength = 2
        configuration.sealsInBackground = false
        let store = try TemporaryStore(config: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
        }
        try await store.storage.save((0..<150).map { Note(id: $0, text: "a") })
        for number in 0..<150 {
            try await store.storage.save(Note(id: number, text: "b"))
            try await store.storage.save(Person(id: "\(number)", name: "", age: nil, score: 0))
        }
        let query = LogQuery(tables: ["notes"])
        let whole = try await store.storage.allEvents(query)
        for limit in [100, 151, 299, 300, 1_000] {
            var page = try await store.storage.changes(since: .position(0), matching: query, limit: limit)
            var events = page.events
            while page.hasMore {
                page = try await store.storage.changes(since: page.next, matching: query, limit: limit)
                events += page.events
            }
            #expect(events == whole)
            #expect(page.next.position == store.storage.head)
        }
    }

    @Test("A token resumes after the store was reopened")
    func tokenSurvivesReopening() async throws {
        let store = try Self.store()
        try await Self.fill(store.storage, commits: 12)
        let whole = try await store.storage.allEvents()
        var kept = ""
        var events: [StorageEvent] = []
        // A reader that takes in one change and is gone.
        for round in 0... {
            var stream =
                try kept.isEmpty
                ? store.storage.changes(since: .position(0)).makeAsyncIterator()
                : store.storage.changes(since: ChangeToken(text: kept)).makeAsyncIterator()
            let change = try #require(try await stream.next())
            events += change.events
            kept = change.token.text
            if events.count >= whole.count { break }
            if round % 3 == 1 { try await store.reopen() }
            if round % 3 == 2 { try await store.storage.seal() }
        }
        #expect(events == whole)
        let end = try await store.storage.changes(since: ChangeToken(text: kept), limit: 5)
        #expect(end.commits.isEmpty)
        #expect(!end.hasMore)
    }

    @Test("A token of another history is refused")
    func tokenOfAnotherHistory() async throws {
        let store = try Self.store()
        let other = try Self.store()
        try await Self.fill(store.storage, commits: 3)
        try await Self.fill(other.storage, commits: 9)
        let token = try await other.storage.changes(since: .head, limit: 1).next
        let early = try await other.storage.changes(since: .position(0), limit: 1).next
        for token in [token, early] {
            let error = await #expect(throws: StorageError.self) {
                try await store.storage.changes(since: token, limit: 1)
            }
            #expect(error?.code == .notFound)
            #expect(error?.remedy.contains("position(0)") ?? false)
            await #expect(throws: StorageError.self) { for try await _ in store.storage.changes(since: token) {} }
        }
        for text in [
            "", "12", "1.2", "1.2.x", "-1.2.3", "1.2.3", "1.2.3.4", "1.2.3.\(String(repeating: "x", count: 32))",
            "1.2.3.\(String(repeating: "a", count: 31))", "99999999999999999999.1.1",
        ] {
            let error = #expect(throws: StorageError.self) { try ChangeToken(text: text) }
            #expect(error?.code == .invalidArgument)
        }
        for limit in [0, -1, .min] {
            let error = await #expect(throws: StorageError.self) {
                try await store.storage.changes(since: .head, limit: limit)
            }
            #expect(error?.code == .invalidArgument)
        }
        let error = await #expect(throws: StorageError.self) {
            try await store.storage.changes(since: .commit(10_000), limit: 1)
        }
        #expect(error?.code == .notFound)
    }

    @Test("A point inside a commit starts with the rest of that commit")
    func pointInsideCommit() async throws {
        let store = try Self.store()
        let receipt = try await store.storage.save((0..<30).map { Note(id: $0, text: "") })
        let page = try await store.storage.changes(since: .position(receipt.first + 4), limit: 100)
        #expect(page.commits.count == 1)
        #expect(page.events.count == 25)
        #expect(page.commits.first?.beginsCommit == false)
        #expect(page.commits.first?.endsCommit == true)
    }

    /// Readers that begin anywhere, some in the middle of the writing, all see what follows exactly once.
    @Test("A live reader sees each commit once")
    func liveReaderSeesEachCommitOnce() async throws {
        let store = try Self.store()
        let storage = store.storage
        let rounds = Int(40 * max(testScale, 0.5))
        try await storage.save(Note(id: 0, text: "before"))
        let begun = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<rounds {
                        try await storage.save([
                            Note(id: writer, text: "\(round)"), Note(id: 10 + writer, text: "\(round)"),
                        ])
                    }
                }
            }
            for reader in 0..<5 {
                group.addTask {
                    // Each begins at another moment of the writing.
                    try await Task.sleep(for: .milliseconds(reader * 3))
                    let start = reader == 0 ? 0 : storage.head
                    begun.add()
                    var seen: [StorageEvent] = []
                    for try await change in storage.changes(
                        since: .position(start), matching: LogQuery(tables: ["notes"]))
                    {
                        #expect(change.isWhole || change.commit.number == 1)
                        seen += change.events
                        if seen.last?.key.first?.value == 99 { break }
                    }
                    var query = LogQuery(tables: ["notes"])
                    query.positions = (start + 1)...Int64.max
                    #expect(try await storage.allEvents(query) == seen)
                }
            }
            for _ in 0..<4 { try await group.next() }
            // One that began after the end would wait for it in vain.
            try await eventually { begun.value == 5 }
            try await storage.save(Note(id: 99, text: "end"))
            try await group.waitForAll()
        }
        #expect(storage.engine.observers.bellCount == 0)
    }

    @Test("A reader ends with its store or task and leaves nothing behind")
    func readerEndsWithStoreOrTask() async throws {
        let store = try Self.store()
        let storage = store.storage
        let first = try await storage.save(Note(id: 1, text: "one"))
        let seen = Counter()
        func follow() -> Task<Int, any Error> {
            Task { [seen] in
                var count = 0
                for try await change in storage.changes(since: .position(first.first - 1)) {
                    count += change.events.count
                    seen.add()
                }
                return count
            }
        }
        let cancelled = follow()
        let closed = follow()
        try await eventually { seen.value >= 2 && storage.engine.observers.bellCount >= 2 }
        cancelled.cancel()
        #expect(try await cancelled.value == 1)
        #expect(storage.engine.observers.bellCount == 1)
        // One that was never asked again, and one that is let go of in the middle.
        _ = storage.changes(since: .head).makeAsyncIterator()
        do {
            var iterator = storage.changes(since: .position(0)).makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            #expect(storage.engine.observers.bellCount == 2)
        }
        #expect(storage.engine.observers.bellCount == 1)
        try await storage.save(Note(id: 2, text: "two"))
        try await eventually { seen.value >= 3 }
        try await storage.close()
        #expect(try await closed.value == 2)
        #expect(storage.engine.observers.bellCount == 0)
        var late = storage.changes(since: .head).makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    @Test("A read-only store follows the writing process")
    func readOnlyStoreFollowsWriter() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let worker = try Worker(store: path, mode: "single", prefix: "x")
        #expect(try await worker.waitForLines(3))
        let configuration = StorageConfig(isReadOnly: true)
        let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration).facade
        var numbers: [Int64] = []
        for try await change in storage.changes(since: .position(0), matching: LogQuery(tables: ["marks"])) {
            numbers.append(change.commit.number)
            if numbers.count == 60 { break }
        }
        _ = worker.kill()
        #expect(numbers == Array(numbers[0]..<numbers[0] + 60))
        let follower = Task {
            var count = 0
            for try await _ in storage.changes(since: .head) { count += 1 }
            return count
        }
        // Wherever the follower is by then.
        try await Task.sleep(for: .milliseconds(20))
        try await storage.close()
        #expect(try await follower.value >= 0)
    }
}
