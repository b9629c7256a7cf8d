import EntityTestSupport
import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import Testing

@StorageEntity(table: "books")
struct Book {
    enum Shelf: String, Codable { case read, unread }
    var id: UUID
    var title: String
    var pages: Int?
    var rating: Double
    var isLent: Bool
    var shelf: Shelf
    var added: Date
    var cover: Data?
    var link: URL?
}

/// What the facade promises of saving, reading, deleting and history.
struct FacadeTests {
    private func open() throws -> Storage {
        try StorageKit.inMemory { $0.autoSchema(PersonRecord.self, NoteRecord.self, BookRecord.self) }.facade
    }

    private func person(_ number: Int) -> Person {
        Person(id: "p\(number)", name: "Name \(number % 3)", age: number, score: Double(number))
    }

    @Test("Values of every type round-trip exactly")
    func everyTypeRoundTrips() async throws {
        let storage = try open()
        let books = [
            Book(
                id: UUID(), title: "é\u{301}\u{1F600}", pages: .max, rating: -0.0, isLent: true, shelf: .read,
                added: Date(timeIntervalSinceReferenceDate: 0.1 + 0.2), cover: Data([0, 255]),
                link: URL(string: "https://example.com/?q=1")),
            Book(
                id: UUID(), title: "", pages: nil, rating: .infinity, isLent: false, shelf: .unread,
                added: .distantPast,
                cover: Data(), link: nil),
        ]
        try await storage.save(books)
        for book in books {
            let found = try #require(try await storage.get(Book.self, id: book.id))
            #expect(found == book)
            #expect(found.rating.bitPattern == book.rating.bitPattern)
            #expect(found.title.utf8.elementsEqual(book.title.utf8))
        }
    }

    @Test("A value that isn't a number is refused and nothing is stored")
    func invalidValueStoresNothing() async throws {
        let storage = try open()
        let error = await #expect(throws: StorageError.self) {
            try await storage.save([self.person(1), Person(id: "x", name: "", age: nil, score: .nan)])
        }
        #expect(error?.code == .invalidValue)
        #expect(try await storage.count(Person.self) == 0)
        let nul = await #expect(throws: StorageError.self) {
            try await storage.save(Person(id: "x", name: "a\0b", age: nil, score: 0))
        }
        #expect(nul?.code == .invalidValue)
        #expect(nul?.message.contains("persons.name") == true)
    }

    @Test("Pages neither repeat nor omit rows")
    func pagesNeitherRepeatNorOmit() async throws {
        let storage = try open()
        try await storage.save((0..<25).map(person))
        var seen: [String] = []
        var offset = 0
        while true {
            let page = try await storage.page(Person.self, orderBy: "name", ascending: false, limit: 7, offset: offset)
            seen += page.items.map(\.id)
            guard page.hasMore else { break }
            offset = page.nextOffset
        }
        #expect(seen.count == 25)
        #expect(Set(seen).count == 25)
        #expect(try await storage.all(Person.self, orderBy: "age").map(\.age) == Array(0..<25))
        let bad = await #expect(throws: StorageError.self) { try await storage.all(Person.self, orderBy: "name; DROP") }
        #expect(bad?.code == .invalidName)
        await #expect(throws: StorageError.self) { try await storage.page(Person.self, limit: -1) }
    }

    @Test("Deletions return how many rows they deleted")
    func deletedCounts() async throws {
        let storage = try open()
        try await storage.save((0..<9).map(person))
        #expect(try await storage.deleteAll(Person.self, where: "name", equals: "Name 1") == 3)
        try await storage.delete(Person.self, id: "p0")
        #expect(try await storage.delete(Person.self, id: "gone").commit == nil)
        #expect(try await storage.deleteAll(Person.self) == 5)
        #expect(try await storage.count(Person.self) == 0)
    }

    @Test("A row's history outlives the row")
    func historyOutlivesRow() async throws {
        let storage = try open()
        try await storage.write(actor: "anna") { try $0.save(Note(id: 1, text: "one")) }
        try await storage.write(actor: "ben", reason: "typo") { try $0.save(Note(id: 1, text: "two")) }
        try await storage.delete(Note.self, id: 1)
        try await storage.save(Note(id: 1, text: "three"))
        let history = try await storage.history(Note.self, id: 1)
        #expect(history.map(\.operation) == [.insert, .update, .delete, .insert])
        #expect(history.map(\.commit.metadata.actor) == ["anna", "ben", nil, nil])
        #expect(history[1].old?.first { $0.column == "text" }?.value == "one")
        #expect(history[1].new?.first { $0.column == "text" }?.value == "two")
        #expect(zip(history.dropFirst(), history).allSatisfy { $0.previous == $1.position })
        #expect(try await storage.history(Note.self, id: 2).isEmpty)
    }

    @Test("updatedAt moves only when another column changes")
    func updatedAtFollowsOtherColumns() async throws {
        let clock = ManualClock()
        var configuration = StorageConfig()
        configuration.clock = clock
        let storage = try StorageKit.inMemory(config: configuration) { $0.autoSchema(NoteRecord.self) }.facade
        func stamp() async throws -> Date? {
            try await storage.read { try Date.fetchOne($0, sql: "SELECT updatedAt FROM notes") }
        }
        try await storage.save(Note(id: 1, text: "one"))
        let first = try await stamp()
        clock.advance(by: .seconds(60))
        #expect(try await storage.save(Note(id: 1, text: "one")).commit == nil)
        #expect(try await stamp() == first)
        try await storage.save(Note(id: 1, text: "two"))
        #expect(try await stamp() == first.map { $0 + 60 })
    }

    @Test("A precondition holds, or nothing is written")
    func preconditions() async throws {
        let storage = try open()
        let first = try await storage.save(Note(id: 1, text: "one"), expecting: .absent)
        await #expect(throws: StorageError.self) { try await storage.save(Note(id: 1, text: "x"), expecting: .absent) }
        let second = try await storage.save(Note(id: 1, text: "two"), expecting: .position(first.position))
        let stale = await #expect(throws: StorageError.self) {
            try await storage.save(Note(id: 1, text: "x"), expecting: .position(first.position))
        }
        #expect(stale?.code == .conflict)
        await #expect(throws: StorageError.self) { try await storage.save(Note(id: 2, text: "x"), expecting: .exists) }
        #expect(storage.head == second.position)
    }

    @Test("A write is there wholly or not at all")
    func writeIsAtomic() async throws {
        struct Refused: Error {}
        let storage = try open()
        await #expect(throws: Refused.self) {
            try await storage.write { tx in
                try tx.save(Note(id: 1, text: "one"))
                #expect(try tx.get(Note.self, id: 1)?.text == "one")
                throw Refused()
            }
        }
        #expect(try await storage.count(Note.self) == 0)
        #expect(try await storage.allEvents().isEmpty)
    }

    @Test("Task-local values name the actor and the correlation")
    func taskLocalActor() async throws {
        let storage = try open()
        let receipt = try await CommitContext.$actor.withValue("anna") {
            try await CommitContext.$correlation.withValue("request 7") {
                try await storage.save(Note(id: 1, text: ""))
            }
        }
        let event = try #require(try await storage.allEvents().first)
        #expect(event.position == receipt.position)
        #expect(event.commit.metadata.actor == "anna")
        #expect(event.commit.metadata.correlation == "request 7")
    }

    @Test("Changes since a position are exactly the later ones")
    func changesSincePosition() async throws {
        let storage = try open()
        let first = try await storage.save(Note(id: 1, text: "one"))
        try await storage.save((2...6).map { Note(id: $0, text: "x") })
        let page = try await storage.changes(since: .position(first.position), limit: 10)
        #expect(page.events.map { $0.key[0].value } == [2, 3, 4, 5, 6])
        var backward = LogQuery()
        backward.descending = true
        let events = try await storage.allEvents(backward)
        #expect(events.map(\.position) == events.map(\.position).sorted(by: >))
        #expect(events.count == 6)
    }

    @Test("Raw SQL is captured like any write")
    func rawSQLIsCaptured() async throws {
        let storage = try open()
        try await storage.save((1...3).map { Note(id: $0, text: "old") })
        try await storage.write { tx in
            try tx.execute("UPDATE notes SET text = ? WHERE id > 1", ["new"])
            try tx.execute("DELETE FROM notes WHERE id = 1")
        }
        #expect(
            try await storage.logText() == [
                "insert notes/1", "insert notes/2", "insert notes/3", "update notes/2 text", "update notes/3 text",
                "delete notes/1",
            ])
        #expect(try await storage.verify().isSound)
    }

    @Test("A closed store throws `closed`")
    func closedStore() async throws {
        let storage = try open()
        try await storage.close()
        let error = await #expect(throws: StorageError.self) { try await storage.save(Note(id: 1, text: "")) }
        #expect(error?.code == .closed)
    }

    /// Reading the log takes long, and has a lane of its own.
    @Test("Reads of the log don't delay other reads")
    func logReadsDelayNoOthers() async throws {
        var configuration = StorageConfig()
        (configuration.readerCount, configuration.longReaderCount) = (1, 1)
        let store = try TemporaryStore(config: configuration) { $0.autoSchema(NoteRecord.self) }
        let storage = store.storage
        try await storage.save(Note(id: 1, text: "first"))
        let gate = DispatchSemaphore(value: 0)
        let hasOpened = Atomic(false)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let reads = (0..<4).map { _ in
            Task {
                try await storage.log.forEachBatch { _ in
                    entry.yield()
                    gate.wait()
                    return false
                }
            }
        }
        for await _ in entered { break }
        // A test that fails must end.
        let opener = Task {
            try await Task.sleep(for: .seconds(600))
            hasOpened.store(true, ordering: .relaxed)
            for _ in reads { gate.signal() }
        }
        for _ in 0..<50 { #expect(try await storage.get(Note.self, id: 1)?.text == "first") }
        let hasWaited = hasOpened.load(ordering: .relaxed)
        #expect(!hasWaited)
        opener.cancel()
        for _ in reads { gate.signal() }
        for read in reads { try await read.value }
    }
}
