import EntityTestSupport
import Foundation
import StorageEntities
import StorageKit
import StorageTesting
import StorageViews
import TestSupport
import Testing

/// What the notifier promises to code that reads it: nothing is missed, nothing is reported that didn't happen, a slow reader
/// costs nobody anything, and nothing is left behind.
@Suite struct ChangeNotifierTests {
    private static func store() throws -> TemporaryStore {
        try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
    }

    private static func ids(_ events: [ChangeEvent]) -> [StorageValue] { events.compactMap(\.id) }

    @Test("Every event after the call is delivered in order")
    func eventsAfterSubscribing() async throws {
        let store = try Self.store()
        try await store.storage.save(Note(id: 1, text: "before"))
        let events = try await store.storage.changeNotifier.events(for: Note.self)
        #expect(events.position == store.storage.head)
        try await store.storage.write { tx in
            try tx.save(Note(id: 2, text: "b"))
            try tx.save(Note(id: 1, text: "a"))
        }
        await store.storage.subscriptions.catchUp()
        try await store.storage.delete(Note.self, id: 2)
        var reader = events.makeAsyncIterator()
        guard case .inserted("notes", 2, let new, events.position + 1)? = await reader.next(),
            case .updated("notes", 1, let changes, events.position + 2)? = await reader.next(),
            case .deleted("notes", 2, let old, events.position + 3)? = await reader.next()
        else {
            Issue.record("Other events than were made")
            return
        }
        #expect(new["text"] == "b")
        #expect(new["id"] == 2)
        #expect(new.count == 3)
        #expect(changes["text"] == FieldChange(old: "before", new: "a"))
        #expect(Set(changes.keys) == ["text", "updatedAt"])
        #expect(old == new)
    }

    @Test("A query's events are those that matter to it")
    func queryRelevantEvents() async throws {
        let store = try Self.store()
        let adults = store.storage.query(Person.self).where { $0.age >= 18 }.orderBy(\.name)
        let events = try await store.storage.changeNotifier.events(
            for: Person.self, filter: .queryRelevant(adults, fields: ["age"]))
        func save(_ person: Person) async throws {
            try await store.storage.save(person)
            await store.storage.subscriptions.catchUp()
        }
        try await save(Person(id: "child", name: "A", age: 7, score: 0))
        try await save(Person(id: "adult", name: "B", age: 30, score: 0))
        // Neither shown nor sorted by.
        try await save(Person(id: "adult", name: "B", age: 30, score: 9))
        try await save(Person(id: "adult", name: "C", age: 30, score: 9))
        try await save(Person(id: "child", name: "A", age: 18, score: 0))
        try await save(Person(id: "adult", name: "C", age: 3, score: 9))
        try await save(Person(id: "adult", name: "D", age: 4, score: 9))
        try await save(Person(id: "last", name: "Z", age: 99, score: 0))
        var reported: [ChangeEvent] = []
        for await event in events {
            reported.append(event)
            if event.id == "last" { break }
        }
        #expect(Self.ids(reported) == ["adult", "adult", "child", "adult", "last"])
    }

    @Test("What is rolled back is never delivered")
    func rolledBackEvents() async throws {
        struct Undone: Error {}
        let store = try Self.store()
        let events = try await store.storage.changeNotifier.events(for: Note.self)
        await #expect(throws: Undone.self) {
            try await store.storage.write { tx in
                try tx.save(Note(id: 1, text: "undone"))
                throw Undone()
            }
        }
        try await store.storage.save(Note(id: 2, text: "done"))
        var reader = events.makeAsyncIterator()
        #expect(await reader.next()?.id == 2)
    }

    @Test("A slow reader learns how many events it missed")
    func slowReaderLearnsItsLoss() async throws {
        let store = try Self.store()
        let events = try await store.storage.changeNotifier.events(for: Note.self, limit: 10)
        for round in 0..<30 {
            try await store.storage.save(Note(id: round, text: ""))
            if round % 4 == 0 { await store.storage.subscriptions.catchUp() }
        }
        await store.storage.subscriptions.catchUp()
        let head = store.storage.head
        var rows = 0
        for await event in events {
            if case .bulkChange("notes", let count?, _) = event { rows += count } else { rows += 1 }
            if event.position == head { break }
        }
        #expect(rows == 30)
    }

    /// More than is taken in change by change.
    @Test("A large import is delivered as one event")
    func importIsOneEvent() async throws {
        let store = try Self.store()
        let events = try await store.storage.changeNotifier.events(for: Note.self, filter: .rowIds([5]))
        try await store.storage.write { tx in
            try tx.execute(
                """
                INSERT INTO notes(id, text, updatedAt)
                WITH RECURSIVE ids(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids LIMIT 20001)
                SELECT id, '', 0 FROM ids
                """)
        }
        var reader = events.makeAsyncIterator()
        #expect(
            await reader.next() == .bulkChange(tableName: "notes", affectedCount: nil, position: store.storage.head))
    }

    @Test("A change of the schema is delivered")
    func schemaChangeEvent() async throws {
        let store = try Self.store()
        let events = try await store.storage.changeNotifier.events(for: Note.self, filter: .affectsFields(["text"]))
        try await store.storage.write { tx in try tx.execute("ALTER TABLE notes ADD COLUMN extra TEXT") }
        var reader = events.makeAsyncIterator()
        let event = await reader.next()
        #expect(event == .schemaChange(tableName: "notes", position: store.storage.head))
        try await store.storage.write { tx in
            try tx.execute("INSERT INTO notes(id, text, updatedAt) VALUES (1, 'a', 0)")
        }
        #expect(await reader.next()?.id == 1)
    }

    @Test("Cancelled readers leave nothing behind")
    func cancelledReadersAreRemoved() async throws {
        let store = try Self.store()
        let engine = store.storage.subscriptions
        let events = try await store.storage.changeNotifier.events(for: Note.self)
        let reading = Task {
            var count = 0
            for await _ in events { count += 1 }
            return count
        }
        for id in 1...50 { try await store.storage.save(Note(id: id, text: "")) }
        #expect(await engine.nodeCount == 1)
        // Wherever it is; some of it may not have been read yet.
        reading.cancel()
        _ = await reading.value
        // Somebody still holds the sequence, and there is nothing behind it any more.
        #expect(await engine.nodeCount == 0)
        var again = events.makeAsyncIterator()
        #expect(await again.next() == nil)
        do { _ = try await store.storage.changeNotifier.events(for: Note.self) }
        // The thread that has begun it may hold it for a moment.
        try await eventually { await engine.nodeCount == 0 }
    }

    @Test("Closing the store ends reading")
    func closingEndsReading() async throws {
        let store = try Self.store()
        let events = try await store.storage.changeNotifier.events(for: Note.self)
        try await store.storage.close()
        for await _ in events { Issue.record("an event without a change") }
        await #expect(throws: StorageError.self) { try await store.storage.changeNotifier.events(for: Note.self) }
    }

    @Test("Unknown tables and fields are refused")
    func unknownTableOrField() async throws {
        let store = try Self.store()
        let notifier = store.storage.changeNotifier
        await #expect { try await notifier.events(for: "nothing") } throws: { ($0 as? StorageError)?.code == .notFound }
        await #expect {
            try await notifier.events(for: Note.self, filter: .affectsFields(["title"]))
        } throws: {
            ($0 as? StorageError)?.code == .invalidName
        }
        await #expect {
            try await notifier.events(for: Note.self, filter: .queryRelevant(store.storage.query(Person.self)))
        } throws: {
            ($0 as? StorageError)?.code == .invalidArgument
        }
        #expect(await store.storage.subscriptions.nodeCount == 0)
    }
}
