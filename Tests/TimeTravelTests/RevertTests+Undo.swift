import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Undo and redo, which choose what to revert.
extension RevertTests {
    @Test("Undo and redo walk through the history", arguments: testSeeds(2))
    func undoAndRedo(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        var states: [[Item]] = []
        for _ in 0..<25 {
            let (before, head) = (try await state(storage), storage.head)
            _ = try await change(storage, using: &random)
            // A commit without a net change is skipped; one that has saved a row again has changed the time of it.
            for try await _ in storage.diff(from: .position(head)) {
                states.append(before)
                break
            }
        }
        for _ in 0..<4 {
            let steps = Int.random(in: 1...states.count, using: &random)
            let end = try await state(storage)
            for step in 1...steps {
                try await storage.undo()
                #expect(try await state(storage) == states[states.count - step])
            }
            for step in (1...steps).reversed() {
                try await storage.redo()
                let expected = step == 1 ? end : states[states.count - step + 1]
                #expect(try await state(storage) == expected)
            }
            let error = await #expect(throws: StorageError.self) { try await storage.redo() }
            #expect(error?.code == .notFound)
        }
        // A change of another kind ends what can be redone.
        try await storage.undo()
        try await storage.save(Item(id: 100, name: "new", count: 0))
        await #expect(throws: StorageError.self) { try await storage.redo() }
        try await storage.undo()
        #expect(try await storage.get(Item.self, id: 100) == nil)
        #expect(try await storage.verify().isSound)
    }

    @Test("Undo can be limited to one actor's changes")
    func undoByActor() async throws {
        let storage = try open()
        try await storage.write(actor: "anna") { try $0.save(Item(id: 1, name: "anna's", count: 0)) }
        try await storage.write(actor: "ben") { try $0.save(Item(id: 2, name: "ben's", count: 0)) }
        try await storage.undo(of: "anna")
        #expect(try await state(storage).map(\.id) == [2])
        try await storage.redo(of: "anna")
        #expect(try await state(storage).map(\.id) == [1, 2])
        await #expect(throws: StorageError.self) { try await storage.undo(of: "nobody") }
    }

    /// With these attributes the write would count as an undo, or as one of a sync engine or a hub.
    @Test("Reserved attribute names are refused")
    func reservedAttribute() async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "first", count: 0))
        for name in [
            "storagekit.undoes", "storagekit.adopted", "storagekit.\u{301}", "sync.rows", "sync.expecting",
            "hub.producer", "hub.origin",
        ] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.write(attributes: ["ip": "::1", name: "1"]) {
                    try $0.save(Item(id: 2, name: "second", count: 0))
                }
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message == "The attribute \"\(name)\" of a commit is reserved.")
        }
        try await storage.write(attributes: ["sync.source": "1", "hub.name": "a", "storagekit": "b"]) {
            try $0.save(Item(id: 2, name: "second", count: 0))
        }
        try await storage.undo()
        #expect(try await state(storage).map(\.id) == [1])
    }

    @Test("A commit with nothing left to undo is skipped")
    func nothingLeftToUndo() async throws {
        let storage = try open()
        for id in 1...2 {
            try await storage.write(actor: "anna") { try $0.save(Item(id: id, name: "anna's", count: 0)) }
        }
        try await storage.write(actor: "ben") { try $0.delete(Item.self, id: 2) }
        try await storage.undo(of: "anna")
        #expect(try await state(storage).isEmpty)
    }

    /// They are found a few at a time, twice as many each time.
    @Test("Any number of commits with nothing left to undo is skipped", arguments: [1, 2, 7, 40])
    func manyEmptyCommits(count: Int) async throws {
        let storage = try open()
        try await storage.write(actor: "anna") { try $0.save(Item(id: 1, name: "anna's", count: 0)) }
        for id in 0..<count {
            try await storage.write {
                try $0.save(Item(id: 100 + id, name: "ben's", count: 0))
                try $0.delete(Item.self, id: 100 + id)
            }
        }
        try await storage.undo()
        #expect(try await state(storage).isEmpty)
        let error = await #expect(throws: StorageError.self) { try await storage.undo() }
        #expect(error?.code == .notFound)
        try await storage.redo()
        #expect(try await state(storage).map(\.id) == [1])
        try await storage.undo(of: "anna")
        #expect(try await state(storage).isEmpty)
    }

    /// An undo belongs to the person whose change it reverts, not to who runs it.
    @Test("What somebody else has undone can be redone")
    func redoingAnothersUndo() async throws {
        let storage = try open()
        try await storage.write(actor: "anna") { try $0.save(Item(id: 1, name: "anna's", count: 0)) }
        for _ in 0..<2 {
            try await storage.undo(of: "anna", actor: "admin")
            #expect(try await state(storage).isEmpty)
            try await storage.redo(of: "anna", actor: "admin")
            #expect(try await state(storage).map(\.id) == [1])
        }
        await #expect(throws: StorageError.self) { try await storage.undo(of: "admin") }
    }

    /// Runs `body` on the way to its commit while a save is before it: in a transaction of its own, or in the same one.
    private func after(
        _ item: Item, on storage: Storage, inOneTransaction: Bool,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let gate = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let held = Task {
            try await storage.write { tx in
                entry.finish()
                gate.wait()
                if !inOneTransaction { try tx.save(item) }
            }
        }
        for await _ in entered {}
        let save = inOneTransaction ? Task { _ = try await storage.save(item) } : nil
        while storage.engine.waitingCommits < (inOneTransaction ? 1 : 0) { await Task.yield() }
        let queued = storage.engine.waitingCommits
        let running = Task { try await body() }
        // It has chosen its commit then.
        while storage.engine.waitingCommits == queued { await Task.yield() }
        gate.signal()
        _ = try await held.value
        try await save?.value
        try await running.value
    }

    @Test("A change that comes before a redo prevents it", arguments: [false, true])
    func changeBeforeRedo(inOneTransaction: Bool) async throws {
        let store = try TemporaryStore { $0.autoSchema(ItemRecord.self, PartRecord.self) }
        defer { withExtendedLifetime(store) {} }
        let storage = store.storage
        try await storage.save(Item(id: 1, name: "undone", count: 0))
        try await storage.undo()
        let other = Item(id: 2, name: "other", count: 0)
        let error = await #expect(throws: StorageError.self) {
            try await after(other, on: storage, inOneTransaction: inOneTransaction) { try await storage.redo() }
        }
        #expect(error?.code == .notFound)
        #expect(try await state(storage).map(\.id) == [2])
        // A change by somebody else doesn't.
        try await storage.write(actor: "anna") { try $0.save(Item(id: 3, name: "anna's", count: 0)) }
        try await storage.undo(of: "anna")
        try await after(
            Item(id: 4, name: "other", count: 0), on: storage, inOneTransaction: inOneTransaction
        ) { try await storage.redo(of: "anna") }
        #expect(try await state(storage).map(\.id) == [2, 3, 4])
    }

    @Test("A change that comes before an undo is what it undoes", arguments: [false, true])
    func changeBeforeUndo(inOneTransaction: Bool) async throws {
        let store = try TemporaryStore { $0.autoSchema(ItemRecord.self, PartRecord.self) }
        defer { withExtendedLifetime(store) {} }
        let storage = store.storage
        try await storage.save(Item(id: 1, name: "earlier", count: 0))
        try await after(
            Item(id: 2, name: "newest", count: 0), on: storage, inOneTransaction: inOneTransaction
        ) { try await storage.undo() }
        #expect(try await state(storage).map(\.id) == [1])
        #expect(try await storage.verify().isSound)
    }
}
