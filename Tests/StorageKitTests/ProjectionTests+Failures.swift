import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// Its tables can't always be made.
private final class Unprepared: Projection {
    let name = "unprepared"
    let version = 1
    let entities = ["notes"]
    let fails = Mutex(false)

    func prepare(_ db: Database) throws {
        if fails.withLock({ $0 }) { throw Tally.Poisoned(position: 0) }
        try db.execute(sql: "CREATE TABLE unprepared(position INTEGER PRIMARY KEY)")
    }

    func apply(_ batch: ProjectionBatch, _ db: Database) throws {
        for event in batch.events {
            try db.execute(sql: "INSERT INTO unprepared VALUES (?)", arguments: [event.position])
        }
    }
}

/// A projection that throws, and what is rebuilt.
extension ProjectionTests {
    @Test("A projection that throws pauses alone and resumes after a fix")
    func failurePausesOneProjection() async throws {
        let bad = Tally("bad")
        let good = Tally("good")
        let store = try store([bad, good], mode: .async)
        let storage = store.storage
        let first = storage.head + 1
        let poisoned = first + 7
        bad.poison.withLock { $0 = [poisoned] }
        // One transaction at a time, so that the poison lies amid a batch when it catches up.
        try await storage.projections.pause("bad")
        for number in 0..<20 { try await storage.save(Note(id: number, text: "n")) }
        try await storage.projections.resume("bad")
        try await waitUntilFailed(storage, "bad")
        let failed = try await status(storage, "bad")
        #expect(failed.position == poisoned - 1)
        #expect(failed.failedPosition == poisoned)
        #expect(failed.error?.contains("poison at @\(poisoned)") == true)
        #expect(try await tallied(storage, "bad") == Array(first..<poisoned))
        try await storage.waitForProjections(through: try await storage.save(Note(id: 99, text: "n")), of: "good")
        #expect(try await tallied(storage, "good") == positions(storage))
        let error = await #expect(throws: StorageError.self) { try await settle(storage) }
        #expect(error?.code == .projectionFailed)
        bad.poison.withLock { $0 = [] }
        try await storage.projections.resume("bad")
        try await settle(storage)
        #expect(try await tallied(storage, "bad") == positions(storage))
        #expect(try await status(storage, "bad").error == nil)
    }

    @Test("Retries come before the pause")
    func retriesBeforePausing() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .async, onFailure: .retry(1_000_000, delay: .milliseconds(1)))
        let storage = store.storage
        tally.poison.withLock { $0 = [storage.head + 1] }
        let receipt = try await storage.save(Note(id: 1, text: "a"))
        // Time for many retries, of which none may pause it.
        try await Task.sleep(for: .milliseconds(30))
        #expect(try await status(storage).state == .running)
        tally.poison.withLock { $0 = [] }
        try await storage.waitForProjections(through: receipt)
        #expect(try await tallied(storage) == [receipt.position])
    }

    /// A store whose projection couldn't take in the second of some saves.
    private func storeWithDeadLetters(onReplayFailure: FailurePolicy = .deadLetter) async throws -> (
        store: TemporaryStore, tally: Tally, poisoned: Int64, receipts: [CommitReceipt]
    ) {
        let tally = Tally()
        let store = try store([tally], mode: .async, onFailure: .deadLetter, onReplayFailure: onReplayFailure)
        let poisoned = store.storage.head + 3
        tally.poison.withLock { $0 = [poisoned] }
        let receipts = try await withSequentialSaves(store.storage)
        try await store.storage.waitForProjections(through: receipts[receipts.count - 1])
        return (store, tally, poisoned, receipts)
    }

    @Test("A failed rebuild keeps the dead letters")
    func failedRebuildKeepsDeadLetters() async throws {
        let (store, _, _, _) = try await storeWithDeadLetters(onReplayFailure: .pause)
        let storage = store.storage
        let before = try await storage.projections.deadLetters("tally").map(\.position)
        try #require(before.count == 2)
        await #expect(throws: StorageError.self) { try await storage.projections.rebuild("tally") }
        let receipt = try await storage.save(Note(id: 2, text: "later"))
        try await storage.waitForProjections(through: receipt)
        #expect(try await storage.projections.deadLetters("tally").map(\.position) == before + [receipt.position])
        #expect(try await !tallied(storage).contains(receipt.position))
    }

    /// New events fail their commit or stop it; those of a rebuild go by the other policy.
    @Test("History has a policy of its own", arguments: [ProjectionMode.inline, .async])
    func replayPolicy(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode, onReplayFailure: .deadLetter, batchSize: 3)
        let storage = store.storage
        let receipts = try await withSequentialSaves(storage)
        try await storage.waitForProjections(through: receipts[receipts.count - 1])
        let all = try await positions(storage)
        tally.poison.withLock { $0 = [all[1]] }
        for round in 0..<2 {
            if round == 0 { try await storage.projections.rebuild("tally") } else { try await storage.rebuild() }
            if mode == .async, round == 1 { break }
            let letters = try await storage.projections.deadLetters("tally").map(\.position)
            #expect(letters.first == all[1])
            #expect(try await tallied(storage) == all.filter { !letters.contains($0) })
            #expect(try await status(storage).state == .running)
        }
        tally.poison.withLock { $0 = [] }
        let letters = try await storage.projections.deadLetters("tally").count
        #expect(try await storage.projections.replayDeadLetters("tally") == letters)
        #expect(try await tallied(storage) == all)
        // What is new goes by the policy for what is new.
        tally.poison.withLock { $0 = [storage.head + 1] }
        do {
            try await storage.waitForProjections(through: storage.save(Note(id: 70, text: "x")))
            Issue.record("nobody minded")
        } catch let error as StorageError { #expect(error.code == .projectionFailed) }
        #expect(try await storage.projections.deadLetters("tally").isEmpty)
        tally.poison.withLock { $0 = [] }
    }

    @Test("Catching up within a commit is retried as well")
    func catchUpInCommitRetries() async throws {
        let tally = Tally()
        let store = try store([tally], mode: .inline, onFailure: .retry(3, delay: .seconds(10)))
        let storage = store.storage
        try await storage.projections.pause("tally")
        let receipt = try await storage.save(Note(id: 1, text: "a"))
        tally.poison.withLock { $0 = [receipt.position] }
        await #expect(throws: StorageError.self) { try await storage.projections.resume("tally") }
        // Once with the batch, once alone, and then three times more.
        #expect(tally.replays.withLock { $0.count } == 5)
        #expect(try await status(storage).state == .failed)
        tally.poison.withLock { $0 = [] }
        try await storage.projections.resume("tally")
        #expect(try await tallied(storage) == [receipt.position])
    }

    /// Events that came while it was paused have their side effects when they are applied, whichever way that is.
    @Test("Side effects of a pause run when its events are applied", arguments: [ProjectionMode.inline, .async])
    func effectsAfterPause(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode)
        var storage = store.storage
        var expected: [Int64] = []
        func save(_ id: Int) async throws { expected.append(try await storage.save(Note(id: id, text: "n")).position) }
        try await save(1)
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        try await storage.projections.pause("tally")
        try await save(2)
        try await storage.projections.resume("tally")
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        try await storage.projections.pause("tally")
        try await save(3)
        try await save(4)
        try await storage.projections.rebuild("tally")
        #expect(try await status(storage).state == .running)
        #expect(try await tallied(storage) == expected)
        try await storage.close()
        #expect(tally.reactions.withLock { $0 } == expected)
        // Somebody else writes without it.
        let without = try StorageKit.start(at: store.url) { $0.autoSchema(NoteRecord.self, PersonRecord.self) }.facade
        expected = [try await without.save(Note(id: 5, text: "n")).position]
        try await without.close()
        let again = Tally()
        storage = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(again, mode: mode)
        }.facade
        try await storage.waitForProjections(through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0))
        #expect(try await tallied(storage).last == expected[0])
        try await storage.close()
        #expect(again.reactions.withLock { $0 } == expected)
    }

    /// Side effects that were due when the store was closed happen as well: nothing would make up for them later.
    @Test("Side effects that are under way at closing run", arguments: [ProjectionMode.inline, .async])
    func effectsDuringClose(mode: ProjectionMode) async throws {
        let tally = Tally()
        let store = try store([tally], mode: mode)
        let storage = store.storage
        let hasBegun = Mutex(false)
        let goOn = DispatchSemaphore(value: 0)
        tally.hold.withLock { hold in
            hold = {
                hasBegun.withLock { $0 = true }
                goOn.wait()
            }
        }
        let saving = Task { try await storage.save(Note(id: 1, text: "n")) }
        try await eventually { hasBegun.withLock { $0 } }
        let closing = Task { try await storage.close() }
        // As far as it comes while the batch is held.
        try await Task.sleep(for: .milliseconds(100))
        goOn.signal()
        let position = try await saving.value.position
        try await closing.value
        #expect(tally.reactions.withLock { $0 } == [position])
    }

    /// A segment may reach beyond the position up to which a projection is rebuilt.
    @Test(
        "A projection that is behind is rebuilt up to its checkpoint", arguments: [ProjectionMode.inline, .async],
        [3, 1_000])
    func partialRebuild(mode: ProjectionMode, batchSize: Int) async throws {
        let projection = try SQLProjection(
            name: "words",
            sql: """
                CREATE TABLE words(n INTEGER PRIMARY KEY AUTOINCREMENT, text);
                -- on insert, update of notes
                INSERT INTO words(text) VALUES (:new_text);
                """)
        for isReset in [false, true] {
            let tally = Tally()
            let store = try TemporaryStore { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(projection, mode: mode, batchSize: batchSize)
                schema.addProjection(tally, mode: mode, batchSize: batchSize)
            }
            let storage = store.storage
            func end() -> CommitReceipt { CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0) }
            for id in 0..<10 { try await storage.save(Note(id: id, text: "n\(id)")) }
            try await storage.waitForProjections(through: end())
            if isReset { for name in ["words", "tally"] { try await storage.projections.reset(name) } }
            try await storage.waitForProjections(through: end())
            for name in ["words", "tally"] { try await storage.projections.pause(name) }
            for id in 10..<20 { try await storage.save(Note(id: id, text: "n\(id)")) }
            // One row of the log holds what it has and what it hasn't taken in.
            try await storage.seal()
            for name in ["words", "tally"] { try await storage.projections.rebuild(name) }
            let texts = try await storage.read { try String.fetchAll($0, sql: "SELECT text FROM words ORDER BY n") }
            #expect(texts == (0..<20).map { "n\($0)" })
            #expect(try await tallied(storage) == positions(storage))
            let all = try await positions(storage)
            try await storage.close()
            #expect(tally.reactions.withLock { $0 } == all)
        }
    }

    @Test("Several projections are rebuilt at the same time")
    func concurrentRebuilds() async throws {
        let tallies = (0..<3).map { Tally("tally_\($0)") }
        let store = try store(tallies, mode: .inline)
        let storage = store.storage
        _ = try await withSequentialSaves(storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tally in tallies { group.addTask { try await storage.projections.rebuild(tally.name) } }
            group.addTask { for id in 200..<230 { try await storage.save(Note(id: id, text: "meanwhile")) } }
            try await group.waitForAll()
        }
        for tally in tallies { #expect(try await tallied(storage, tally.name) == positions(storage)) }
        #expect(try await storage.verify().isSound)
    }

    /// Where an inline projection can't take in the history again, a rebuild of the tables says so and changes nothing.
    @Test("A projection that throws leaves a rebuild of tables undone")
    func failureUndoesTableRebuild() async throws {
        let (tally, other) = (Tally(), Tally("other"))
        let store = try store([tally, other], mode: .inline)
        let storage = store.storage
        _ = try await withSequentialSaves(storage)
        let before = try await tallied(storage)
        tally.poison.withLock { $0 = [before[1]] }
        let error = await #expect(throws: StorageError.self) { try await storage.rebuild() }
        #expect(error?.code == .projectionFailed)
        #expect(error?.message.contains("tally") ?? false)
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == before) }
        tally.poison.withLock { $0 = [] }
        try await storage.save(Note(id: 77, text: "later"))
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == positions(storage)) }
        try await storage.rebuild()
        for name in ["tally", "other"] { #expect(try await tallied(storage, name) == positions(storage)) }
        #expect(try await storage.verify().isSound)
    }

    @Test("Waiting for a paused projection throws")
    func waitingForPaused() async throws {
        let store = try store([Tally()], mode: .inline)
        let storage = store.storage
        let first = try await storage.save(Note(id: 1, text: "one"))
        try await storage.waitForProjections(through: first, of: "tally")
        try await storage.projections.pause("tally")
        let second = try await storage.save(Note(id: 2, text: "two"))
        let error = await #expect(throws: StorageError.self) {
            try await storage.waitForProjections(through: second, of: "tally")
        }
        #expect(error?.code == .projectionFailed)
        try await storage.projections.resume("tally")
        try await storage.waitForProjections(through: second, of: "tally")
    }

    /// Tables that refer to each other, row by row.
    struct Invoices: Projection {
        let name = "invoices"
        let version = 1
        let entities = ["notes"]

        func prepare(_ db: Database) throws {
            try db.execute(
                sql: """
                    CREATE TABLE invoice(id INTEGER PRIMARY KEY);
                    CREATE TABLE invoice_line(id INTEGER PRIMARY KEY REFERENCES invoice(id));
                    """)
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for event in batch.events {
                try db.execute(sql: "INSERT INTO invoice VALUES (?)", arguments: [event.position])
                try db.execute(sql: "INSERT INTO invoice_line VALUES (?)", arguments: [event.position])
            }
        }
    }

    @Test("Tables that refer to each other are rebuilt", arguments: [ProjectionMode.inline, .async])
    func mutuallyReferringTables(mode: ProjectionMode) async throws {
        let store = try store([Invoices()], mode: mode)
        let storage = store.storage
        let receipts = try await withSequentialSaves(storage)
        let last = receipts[receipts.count - 1]
        try await storage.waitForProjections(through: last)
        let expected = try await positions(storage)
        func lines() async throws -> [Int64] {
            try await storage.read { try Int64.fetchAll($0, sql: "SELECT id FROM invoice_line ORDER BY id") }
        }
        #expect(try await lines() == expected)
        try await storage.projections.rebuild("invoices")
        #expect(try await lines() == expected)
        try await storage.projections.reset("invoices")
        try await storage.waitForProjections(through: last)
        #expect(try await lines() == expected)
        #expect(try await storage.verify().isSound)
    }

    @Test("A reset that fails changes nothing")
    func failedReset() async throws {
        let projection = Unprepared()
        let store = try store([projection], mode: .inline)
        let storage = store.storage
        let first = try await storage.save(Note(id: 1, text: "a"))
        projection.fails.withLock { $0 = true }
        await #expect(throws: StorageError.self) { try await storage.projections.reset("unprepared") }
        #expect(try await status(storage, "unprepared").state == .running)
        let second = try await storage.save(Note(id: 2, text: "b"))
        try await storage.waitForProjections(through: second)
        #expect(try await tallied(storage, "unprepared") == [first.position, second.position])
    }

    @Test("Dead letters lose nothing and keep each row's order")
    func deadLettersKeepRowOrder() async throws {
        let (store, tally, poisoned, receipts) = try await storeWithDeadLetters()
        let storage = store.storage
        // Row 2 was poisoned: its later change waits, in its order; row 1's is applied.
        let letters = try await storage.projections.deadLetters("tally")
        let ofTheRow = try await storage.history(Note.self, id: 2).map(\.position)
        try #require(letters.map(\.position) == ofTheRow)
        #expect(letters[0].error.contains("poison"))
        #expect(letters[1].error.contains("waits behind @\(poisoned)"))
        #expect(letters[1].event.operation == .update)
        #expect(letters[1].event.table == "notes")
        #expect(try await tallied(storage) == positions(storage).filter { !ofTheRow.contains($0) })
        #expect(try await status(storage).deadLetters == 2)
        #expect(try await storage.verify().isSound)
        // It fails again: nothing is lost.
        #expect(try await storage.projections.replayDeadLetters("tally") == 0)
        #expect(try await storage.projections.deadLetters().map(\.attempts) == [2, 0])
        try await store.reopen()
        tally.poison.withLock { $0 = [] }
        #expect(try await store.storage.projections.replayDeadLetters("tally") == 2)
        #expect(try await tallied(store.storage) == positions(store.storage))
        #expect(try await store.storage.projections.deadLetters().isEmpty)
        try await store.storage.close()
        #expect(Set(tally.reactions.withLock { $0 }).count == receipts.count)
    }

    /// Wherever in a small history it throws: it alone stands there, with everything before and nothing behind, says so, and goes on after
    /// a fix; with dead letters the row waits and nothing is lost.
    @Test("A projection may throw at any event", arguments: [2, 1_000])
    func throwingAtEveryEvent(batchSize: Int) async throws {
        let commits = [[1, 2], [2], [3, 1, 2], [3]]
        let total = commits.joined().count
        for poisoned in 1...total {
            let bad = Tally("bad")
            let letters = Tally("letters")
            let good = Tally("good")
            let store = try TemporaryStore { schema in
                schema.autoSchema(NoteRecord.self)
                schema.addProjection(bad, mode: .async, batchSize: batchSize)
                schema.addProjection(letters, mode: .async, onFailure: .deadLetter, batchSize: batchSize)
                schema.addProjection(good, mode: .async, batchSize: batchSize)
            }
            let storage = store.storage
            let at = storage.head + Int64(poisoned)
            for projection in [bad, letters] { projection.poison.withLock { $0 = [at] } }
            for (round, ids) in commits.enumerated() {
                try await storage.write { tx in for id in ids { try tx.save(Note(id: id, text: "\(round)")) } }
            }
            let all = try await positions(storage)
            #expect(all.count == total)
            try await waitUntilFailed(storage, "bad")
            // It takes in nothing, but says how far to wait.
            let receipt = try await storage.delete(Note.self, id: 99)
            try await storage.waitForProjections(through: receipt, of: "good", "letters")
            #expect(try await tallied(storage, "good") == all)
            // A batch ends with a whole commit, so the one with the poison isn't there at all.
            let commit = try #require(try await storage.allEvents().first { $0.position == at }).commit
            let start = try #require(try await storage.allEvents().first { $0.commit == commit }).position
            let status = try await status(storage, "bad")
            #expect(status.state == .failed)
            #expect(status.position < start)
            #expect(status.failedPosition.map { $0 <= at } == true)
            #expect(status.error?.contains("@\(at)") == true)
            #expect(try await tallied(storage, "bad") == all.filter { $0 < start }, "@\(at)")
            let waiting = try await storage.projections.deadLetters("letters").map(\.position)
            #expect(waiting.first == at)
            #expect(try await (tallied(storage, "letters") + waiting).sorted() == all, "@\(at)")
            if poisoned % 2 == 0 { try await store.reopen() }
            for projection in [bad, letters] { projection.poison.withLock { $0 = [] } }
            try await store.storage.projections.resume("bad")
            #expect(try await store.storage.projections.replayDeadLetters("letters") == waiting.count)
            try await settle(store.storage)
            let whole = try await positions(store.storage)
            for name in ["bad", "letters", "good"] {
                #expect(try await tallied(store.storage, name) == whole, "\(name) @\(at)")
            }
            try await store.storage.close()
        }
    }

    func withSequentialSaves(_ storage: Storage) async throws -> [CommitReceipt] {
        var receipts: [CommitReceipt] = []
        for (id, text) in [(0, "a"), (1, "a"), (2, "a"), (1, "b"), (2, "b"), (3, "a")] {
            receipts.append(try await storage.save(Note(id: id, text: text)))
        }
        return receipts
    }
}
