import Foundation
import StorageKit
import StorageTesting
import Testing

/// The past reads as it was when it was the present.
@Suite struct AsOfTests {
    @Test func everyPointOfARandomHistoryIsWhatItWas() async throws {
        let clock = ManualClock()
        var configuration = StorageConfiguration()
        configuration.clock = clock
        configuration.segmentLength = 16
        let storage = try StorageKit.inMemory(configuration: configuration) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
        }.facade
        var states: [(position: Int64, commit: Int64, time: Date, notes: [Note])] = []
        for round in 0..<60 {
            clock.advance(seconds: 10)
            let receipt = try await storage.write { tx in
                for _ in 0..<Int.random(in: 1...4) {
                    let id = Int.random(in: 0..<9)
                    if Bool.random() {
                        try tx.save(Note(id: id, text: "round \(round)"))
                    } else {
                        try tx.delete(Note.self, id: id)
                    }
                }
                try tx.save(Person(id: "p", name: "round \(round)", age: nil, score: 0))
            }
            let commit = try #require(receipt.commit)
            let time = Date(timeIntervalSince1970: Double(receipt.time) / 1_000_000)
            states.append((receipt.last, commit, time, try await storage.all(Note.self)))
            if round % 20 == 19 { try await storage.seal() }
        }
        for state in states.shuffled() {
            for point in [
                StoragePoint.position(state.position), .commit(state.commit), .time(state.time),
                .time(state.time.addingTimeInterval(9)),
            ] {
                let past = try await storage.asOf(point)
                #expect(past.position == state.position)
                #expect(try await past.all(Note.self) == state.notes)
                #expect(try await past.count(Note.self) == state.notes.count)
                for note in state.notes { #expect(try await past.get(Note.self, id: note.id) == note) }
            }
        }
        #expect(try await storage.asOf(.head).all(Note.self) == states.last?.notes)
        let before = try await storage.asOf(.time(Date(timeIntervalSince1970: 0)))
        #expect(before.position == 0)
        await #expect(throws: StorageError.self) { try await before.all(Note.self) }
        for point in [StoragePoint.position(-1), .position(storage.head + 1), .commit(10_000), .commit(-1)] {
            let error = await #expect(throws: StorageError.self) { try await storage.asOf(point) }
            #expect(error?.code == .notFound)
        }
    }
}
