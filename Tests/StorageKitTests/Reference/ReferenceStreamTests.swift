import GRDB
import StorageKit
import Synchronization
import TestSupport
import Testing

/// The streams of the reference, with its names.
@Suite struct ReferenceStreamTests {
    private func open() throws -> StorageKit.Context { try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) } }

    @Test("A closure with SQL runs again after every commit")
    func trackedClosure() async throws {
        let context = try open()
        let db = context.storage.dbActor
        var counts = db.stream(tracking: { try Int.fetchOne($0, sql: "SELECT count(*) FROM notes") ?? -1 })
            .makeAsyncIterator()
        #expect(await counts.next() == 0)
        for id in 1...5 {
            try await context.facade.save(Note(id: id, text: "\(id)"))
            #expect(await counts.next() == id)
        }
        // SQL of one's own is a commit too.
        try await db.write { try $0.execute(sql: "DELETE FROM notes WHERE id > 2") }
        #expect(await counts.next() == 2)
        try await context.facade.close()
        #expect(await counts.next() == nil)
    }

    @MainActor @Test("Values come on the main actor and not twice")
    func distinctValuesOnMainActor() async throws {
        let context = try open()
        let db = context.storage.dbActor
        var texts: [[String]] = []
        let reader = Task { @MainActor in
            let all = db.streamDistinctOnMainActor(bufferingPolicy: .unbounded) {
                try String.fetchAll($0, sql: "SELECT text FROM notes ORDER BY id")
            }
            for await value in all {
                MainActor.preconditionIsolated()
                texts.append(value)
            }
        }
        while texts.isEmpty { await Task.yield() }
        try await context.facade.save(Note(id: 1, text: "a"))
        while texts.count < 2 { await Task.yield() }
        try await db.write { try $0.execute(sql: "UPDATE notes SET text = 'a'") }
        try await context.facade.tag("nothing-has-changed", at: .head)
        try await context.facade.save(Note(id: 2, text: "b"))
        while texts.count < 3 { await Task.yield() }
        #expect(texts == [[], ["a"], ["a", "b"]])
        reader.cancel()
        await reader.value
        #expect(context.facade.engine.observers.bellCount == 0)
    }

    @Test("An error is reported and ends nothing")
    func errorsOfStreams() async throws {
        let context = try open()
        let errors = Mutex<[String]>([])
        let values = context.storage.dbActor.streamOnMainActor(onError: { error in
            errors.withLock { $0.append("\(error)") }
        }) { try Int.fetchOne($0, sql: "SELECT count(*) FROM later") ?? -1 }
        var iterator = values.makeAsyncIterator()
        try await eventually { errors.withLock { !$0.isEmpty } }
        _ = try await context.storage.dbActor.write { try $0.execute(sql: "CREATE TABLE later(x)") }
        try await context.facade.save(Note(id: 1, text: "a"))
        #expect(await iterator.next() == 0)
    }
}
