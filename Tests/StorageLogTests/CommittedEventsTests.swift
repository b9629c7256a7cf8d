import CSQLite
import GRDB
import StorageCore
import Synchronization
import Testing

@testable import StorageLog

/// Those who follow commits get the events as they were captured, and can keep a copy that is what the log holds.
@Suite struct CommittedEventsTests {
    @Test("The copy of a commit's events equals the log", arguments: TestSettings.seeds(8, from: 7_000))
    func committedEventsEqualLog(seed: UInt64) async throws {
        let engine = try TestStore.inMemory()
        for entity in CaptureTables.entities { try await engine.adopt(entity.name, entity.sql) }
        let kept = Mutex<[EventBatch]>([])
        let start = try await engine.withWriter { writer, _ in writer.head.position }
        let observation = engine.observers.add { events in
            if let batch = events.batch(where: { _ in true }) { kept.withLock { $0.append(batch) } }
        }
        var generator = StatementGenerator(seed: seed)
        for _ in 0..<60 {
            let statements = (0..<3).map { _ in generator.statement() }
            // Statements that fail take their own changes back.
            _ = try? await engine.commit(CommitMetadata(actor: "anna")) { _, db in
                for statement in statements { try? db.execute(sql: statement) }
            }
        }
        observation.cancel()
        try await engine.commit("DELETE FROM item")
        let batches = kept.withLock { $0 }
        try await engine.withWriter { writer, _ in
            let reader = LogReader(writer.database)
            var next = start + 1
            for batch in batches {
                #expect(batch.positions.lowerBound == next)
                next = batch.positions.upperBound + 1
                for index in 0..<batch.count {
                    let position = batch.positions.lowerBound + Int64(index)
                    let stored = try #require(try reader.batch(containing: position))
                    let place = Int(position - stored.positions.lowerBound)
                    let copy = batch.withView { NetRow($0, event: index) }
                    #expect(copy == stored.withView { NetRow($0, event: place) }, "seed \(seed) @\(position)")
                    #expect(batch.commit(ofEvent: index) == stored.commit(ofEvent: place))
                    let previous = batch.withView { $0.events[index].previous }
                    #expect(previous == stored.withView { $0.events[place].previous })
                }
            }
            #expect(next > start + 20)
            #expect(next <= writer.head.position + 1)
        }
    }

    @Test("Nothing is copied for unwanted entities")
    func unwantedEntitiesAreNotCopied() async throws {
        let engine = try TestStore.inMemory()
        for entity in CaptureTables.entities { try await engine.adopt(entity.name, entity.sql) }
        let ids = try await engine.withWriter { writer, _ in
            ["item", "pair"].compactMap { writer.catalog.entity(named: $0)?.id }
        }
        let seen = Mutex<[[Bool]]>([])
        let observation = engine.observers.add { events in
            let answers = [
                events.batch { $0 == ids[0] } != nil, events.batch { $0 == ids[1] } != nil,
                events.batch(byteLimit: 10) { _ in true } != nil, events.keys(of: "item").count == 2,
                events.keys(of: "pair").isEmpty,
            ]
            seen.withLock { $0.append(answers) }
        }
        try await engine.commit("INSERT INTO item(id, a) VALUES (1, 'x'), (2, 'y')")
        // Neither a transaction that changes nothing nor one that is undone is reported.
        try await engine.commit("UPDATE item SET a = a")
        await #expect(throws: (any Error).self) { try await engine.commit("INSERT INTO item(id) VALUES (3), (1)") }
        observation.cancel()
        #expect(seen.withLock { $0 } == [[true, false, false, true, true]])
    }
}
