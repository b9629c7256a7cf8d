import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import Testing

/// The log can be listed by commits, and points and rows be found in it.
@Suite struct LogTests {
    private static func store(segmentLength: Int = 8) throws -> TemporaryStore {
        var configuration = StorageConfig()
        configuration.segmentLength = segmentLength
        return try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
    }

    /// Commits of many sizes, some longer than a row of the log, with tags between them.
    private static func fill(_ storage: Storage, commits: Int) async throws {
        for round in 0..<commits {
            try await storage.write(actor: round % 3 == 0 ? "anna" : "ben", reason: "round \(round)") { tx in
                for number in 0...(round % 7 == 6 ? 30 : round % 4) {
                    if (round + number) % 2 == 0 {
                        try tx.save(Note(id: number, text: "\(round)"))
                    } else {
                        try tx.save(Person(id: "\(number)", name: "\(round)", age: nil, score: 0))
                    }
                }
            }
            if round % 4 == 3 { try await storage.tag("round-\(round)") }
            if round % 5 == 4 { try await storage.seal() }
        }
    }

    private static let queries: [LogQuery] = {
        var anna = LogQuery(tables: ["notes"])
        anna.actors = ["anna"]
        var schema = LogQuery()
        schema.includesSchema = true
        var part = LogQuery()
        part.positions = 17...53
        return [LogQuery(), LogQuery(tables: ["notes"]), anna, schema, part, LogQuery(tables: ["nothing"])]
    }()

    private static func counted(_ events: [StorageEvent]) -> [String: CommitSummary.Counts] {
        var counts: [String: CommitSummary.Counts] = [:]
        for event in events {
            switch event.operation {
            case .insert: counts[event.table, default: .init()].insert += 1
            case .update: counts[event.table, default: .init()].update += 1
            case .delete: counts[event.table, default: .init()].delete += 1
            }
        }
        return counts
    }

    // MARK: Commits

    @Test("Commits are those of the events", arguments: [1, 8, 1_024])
    func commitsMatchEvents(segmentLength: Int) async throws {
        let store = try Self.store(segmentLength: segmentLength)
        try await Self.fill(store.storage, commits: 24)
        var whole = LogQuery()
        whole.includesSchema = true
        let all = Dictionary(grouping: try await store.storage.allEvents(whole), by: \.commit.number)
        for (place, query) in Self.queries.enumerated() {
            let events = Dictionary(grouping: try await store.storage.allEvents(query), by: \.commit.number)
            for isDescending in [false, true] {
                var query = query
                query.descending = isDescending
                var commits: [CommitSummary] = []
                for try await commit in store.storage.log.commits(query) { commits.append(commit) }
                let numbers = events.keys.sorted()
                #expect(commits.map(\.number) == (isDescending ? numbers.reversed() : numbers), "query \(place)")
                for commit in commits {
                    let positions = try #require(all[commit.number]).map(\.position)
                    #expect(commit.positions == positions[0]...positions[positions.count - 1], "query \(place)")
                    #expect(commit.changes == Self.counted(events[commit.number] ?? []), "query \(place)")
                    #expect(commit.info == events[commit.number]?.first?.commit, "query \(place)")
                }
            }
        }
    }

    /// More commits than are held at a time, in rows of which most hold nothing that matches.
    @Test("One list may take many reads of the log")
    func listOfManyReads() async throws {
        let store = try Self.store(segmentLength: 2)
        for number in 0..<400 {
            try await store.storage.save(Note(id: number % 3, text: "\(number)"))
            guard number % 50 == 0 else { continue }
            try await store.storage.save(Person(id: "\(number)", name: "p", age: nil, score: 0))
        }
        for isDescending in [false, true] {
            var query = LogQuery()
            query.descending = isDescending
            var count = 0
            var last: Int64?
            for try await commit in store.storage.log.commits(query) {
                if let last { #expect(isDescending ? commit.number < last : commit.number > last) }
                last = commit.number
                count += 1
            }
            #expect(count == 408)
            query.tables = ["persons"]
            let people = store.storage.log.commits(query)
            #expect(try await people.reduce(0) { $0 + ($1.changes["persons"]?.insert ?? 0) } == 8)
        }
    }

    @Test("Commits during a forward list are part of it")
    func commitsDuringForwardList() async throws {
        let store = try Self.store()
        try await store.storage.save(Note(id: 1, text: "a"))
        var numbers: [Int64] = []
        for try await commit in store.storage.log.commits() {
            numbers.append(commit.number)
            if numbers.count < 5 { try await store.storage.save(Note(id: 1, text: "\(numbers.count)")) }
        }
        #expect(numbers.count == 5)
        #expect(numbers == numbers.sorted())
        var query = LogQuery()
        query.descending = true
        var count = 0
        for try await _ in store.storage.log.commits(query) {
            count += 1
            try await store.storage.save(Note(id: 2, text: "\(count)"))
        }
        #expect(count == 5)
    }

    // MARK: Points

    @Test("A point has its position and commit")
    func resolvingPoints() async throws {
        let store = try Self.store()
        let (storage, log) = (store.storage, store.storage.log)
        var receipts: [CommitReceipt] = []
        for number in 0..<6 {
            receipts.append(
                try await storage.write(actor: "anna") { tx in
                    try tx.save(Note(id: number, text: "a"))
                    try tx.save(Person(id: "\(number)", name: "p", age: nil, score: 0))
                })
        }
        try await storage.tag("third", at: .commit(try #require(receipts[2].commit)))
        for receipt in receipts {
            let number = try #require(receipt.commit)
            #expect(try await log.position(of: .commit(number)) == receipt.last)
            for point in [StoragePoint.commit(number), .position(receipt.first), .position(receipt.last)] {
                let commit = try await log.commit(at: point)
                #expect(commit.number == number)
                #expect(commit.positions == receipt.first...receipt.last)
                #expect(commit.changes["notes"]?.insert == 1)
                #expect(commit.changes["persons"]?.insert == 1)
                #expect(commit.metadata.actor == "anna")
            }
        }
        #expect(try await log.position(of: .head) == storage.head)
        #expect(try await log.position(of: .tag("third")) == receipts[2].last)
        #expect(try await log.commit(at: .tag("third")).number == receipts[2].commit)
        // The tag is the newest commit, and no step of the data.
        #expect(try await log.commit(at: .head).number == receipts[5].commit)
        for back in 1...5 {
            let point = StoragePoint.before(.head, commits: Int64(back))
            #expect(try await log.position(of: point) == receipts[5 - back].last, "\(back) before the head")
            #expect(try await log.commit(at: point).number == receipts[5 - back].commit)
        }
        #expect(try await log.position(of: .before(.tag("third"), commits: 2)) == receipts[0].last)
        #expect(try await log.position(of: .before(.before(.head, commits: 1), commits: 2)) == receipts[2].last)
        #expect(try await storage.asOf(.before(.head, commits: 1)).count(Note.self) == 5)
    }

    /// The date of a commit is the time of the commit, though dates hold it as a fraction of seconds.
    @Test("The time of a commit resolves to the commit")
    func timeOfCommitAsPoint() async throws {
        let clock = ManualClock(microseconds: 1_714_557_600_000_000)
        var configuration = StorageConfig()
        configuration.clock = clock
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
        for number in 0..<300 {
            clock.advance(by: .seconds(1.0 / 7 + Double(number) / 1_000_000))
            let receipt = try await store.storage.save(Note(id: number, text: "a"))
            let date = Date(timeIntervalSince1970: Double(receipt.time) / 1_000_000)
            #expect(try await store.storage.log.position(of: .time(date)) == receipt.last)
        }
    }

    @Test("Unknown points aren't found")
    func unknownPoints() async throws {
        let store = try Self.store()
        let log = store.storage.log
        try await store.storage.save(Note(id: 1, text: "a"))
        let points: [StoragePoint] = [
            .position(-1), .position(store.storage.head + 1), .commit(-1), .commit(99), .tag("nothing"),
            .before(.head, commits: 99), .before(.head, commits: .max), .before(.head, commits: -1),
            .before(.tag("nothing"), commits: 1),
        ]
        for point in points {
            let error = await #expect(throws: StorageError.self) { try await log.position(of: point) }
            #expect(error?.code == .notFound, "\(point)")
            #expect(error?.remedy.isEmpty == false, "\(point)")
            await #expect(throws: StorageError.self) { try await log.commit(at: point) }
        }
        #expect(try await log.position(of: .commit(0)) == 0)
        #expect(try await log.position(of: .time(.distantPast)) == 0)
        #expect(try await log.position(of: .time(.distantFuture)) == store.storage.head)
        for point in [StoragePoint.position(0), .commit(0), .time(.distantPast)] {
            let error = await #expect(throws: StorageError.self) { try await log.commit(at: point) }
            #expect(error?.code == .notFound, "\(point)")
        }
    }

    // MARK: Rows and values

    @Test("The values of an event are found by column")
    func eventValuesByColumn() async throws {
        let store = try Self.store()
        try await store.storage.save(Person(id: "1", name: "Anna", age: nil, score: 1))
        try await store.storage.save(Person(id: "1", name: "Anne", age: nil, score: 1))
        try await store.storage.delete(Person.self, id: "1")
        let events = try await store.storage.allEvents(LogQuery(tables: ["persons"]))
        #expect(events.map { $0.new?["name"] } == ["Anna", "Anne", nil])
        #expect(events.map { $0.old?["name"] } == [nil, "Anna", "Anne"])
        #expect(events.allSatisfy { $0.key["id"] == "1" })
        #expect(events[0].new?["age"] == .null)
        // The update has what it changed alone, and NULL is a value.
        for missing in [events[1].new?["age"], events[0].new?["Name"], events[0].new?["name "]] {
            #expect(missing.map { "\($0)" } == nil)
        }
        let (first, second) = (StoragePoint.position(events[0].position), StoragePoint.position(events[1].position))
        for try await change in store.storage.diff(from: first, to: second) {
            #expect(change.old?["name"] == "Anna")
            #expect(change.new?["name"] == "Anne")
        }
    }

    @Test("The last position of a row guards a save")
    func positionGuardsSave() async throws {
        let store = try Self.store()
        let storage = store.storage
        #expect(try await storage.position(of: Person.self, id: "1") == nil)
        let first = try await storage.save(Person(id: "1", name: "Anna", age: nil, score: 1))
        #expect(try await storage.position(of: Person.self, id: "1") == first.position)
        try await storage.save(Person(id: "2", name: "Ben", age: nil, score: 1))
        let second = try await storage.save(Person(id: "1", name: "Anne", age: nil, score: 1))
        let position = try #require(try await storage.position(of: Person.self, id: "1"))
        #expect(position == second.position)
        let third = try await storage.save(
            Person(id: "1", name: "Annie", age: nil, score: 1), expecting: .position(position))
        await #expect(throws: StorageError.self) {
            try await storage.save(Person(id: "1", name: "Ann", age: nil, score: 1), expecting: .position(position))
        }
        #expect(try await storage.position(of: Person.self, id: "1") == third.position)
        try await storage.delete(Person.self, id: "1")
        #expect(try await storage.position(of: Person.self, id: "1") == nil)
    }
}
