import Foundation
import ProcessTestSupport
import StorageEntities
import StorageHistory
import StorageKit
import StorageMaintenance
import StorageTesting
import Testing

/// Changes are taken back by changes, and nothing is overwritten in silence.
@Suite struct RevertTests {
    @StorageEntity struct Item: Equatable {
        var id: Int
        var name: String
        var count: Int
        var note: String?
    }
    @StorageEntity struct Part: Equatable {
        var id: Int
        var itemId: Int
        @StorageBelongsTo(foreignKey: "itemId", onDelete: .cascade) var item: Item?
    }

    private func open(segmentLength: Int = 16) throws -> Storage {
        var configuration = StorageConfig()
        configuration.segmentLength = segmentLength
        return try StorageKit.inMemory(config: configuration) {
            $0.autoSchema(ItemRecord.self, PartRecord.self)
        }.facade
    }

    private func state(_ storage: Storage) async throws -> [Item] { try await storage.all(Item.self) }

    private enum Change {
        case delete(Int)
        case count(Int)
        case save(Item)
    }

    /// A commit of a few random changes; nil where they changed nothing.
    private func change(
        _ storage: Storage, using random: inout SplitMix64, by actor: String? = nil
    ) async throws -> Int64? {
        var changes: [Change] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let id = Int.random(in: 0..<8, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: changes.append(.delete(id))
            case 1: changes.append(.count(id))
            default:
                let (name, count) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
                let note = Bool.random(using: &random) ? nil : "x"
                changes.append(.save(Item(id: id, name: "n\(name)", count: count, note: note)))
            }
        }
        return try await storage.write(actor: actor) { [changes] tx in
            for change in changes {
                switch change {
                case .delete(let id): try tx.delete(Item.self, id: id)
                case .count(let id): try tx.execute("UPDATE items SET count = count + 1 WHERE id = ?", [id])
                case .save(let item): try tx.save(item)
                }
            }
        }.commit
    }

    @Test(
        "Reverting the newest commit restores the state before, and reverting that restores it", arguments: testSeeds(2)
    )
    func revertAndRevertBack(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        for _ in 0..<150 {
            let before = try await state(storage)
            guard let commit = try await change(storage, using: &random) else { continue }
            let after = try await state(storage)
            let dry = try await storage.revert(commit, isDryRun: true)
            #expect(dry.receipt == nil)
            #expect(try await state(storage) == after)
            let report = try await storage.revert(commit, actor: "anna", reason: "oops")
            #expect(report.outcome == dry.outcome)
            #expect(try await state(storage) == before)
            // A commit may come to nothing, and then there is nothing to take back.
            guard let again = report.receipt?.commit else { continue }
            try await storage.revert(again)
            #expect(try await state(storage) == after)
        }
        #expect(try await storage.verify().isSound)
    }

    @Test("Consecutive commits are reverted as a whole", arguments: testSeeds(2))
    func revertingConsecutiveCommits(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        for _ in 0..<40 {
            let before = try await state(storage)
            var commits: [Int64] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                if let commit = try await change(storage, using: &random) { commits.append(commit) }
            }
            guard let first = commits.first, let last = commits.last else { continue }
            let after = try await state(storage)
            let report = try await storage.revert(first...last, reason: "all of it")
            #expect(try await state(storage) == before)
            guard let again = report.receipt?.commit else { continue }
            try await storage.revert(again)
            #expect(try await state(storage) == after)
        }
        let error = await #expect(throws: StorageError.self) { try await storage.revert(1...100_000) }
        #expect(error?.code == .notFound)
        #expect(try await storage.verify().isSound)
    }

    /// What looks like a state in between isn't what the commits have left.
    @Test("An intermediate state that others have set is theirs")
    func othersSetIntermediateState() async throws {
        for policy in ConflictPolicy.allCases {
            let storage = try open()
            func save(_ id: Int, _ count: Int) async throws -> Int64 {
                let receipt = try await storage.save(Item(id: id, name: "n", count: count, note: nil))
                return try #require(receipt.commit)
            }
            _ = try await save(1, 1)
            let first = try await save(1, 2)
            let last = try await save(1, 3)
            _ = try await save(1, 2)
            if policy == .abort {
                let error = await #expect(throws: StorageError.self) { try await storage.revert(first...last) }
                #expect(error?.code == .conflict)
            } else {
                let report = try await storage.revert(first...last, onConflict: policy)
                #expect(report.outcome.conflicts.count == (policy == .skip ? 1 : 0))
            }
            #expect(try await storage.get(Item.self, id: 1)?.count == (policy == .overwrite ? 1 : 2))
            // The same of a commit by itself. A row that came and went is nothing to take back.
            let twice = try #require(
                try await storage.write { tx in
                    try tx.save(Item(id: 2, name: "a", count: 1, note: nil))
                    try tx.save(Item(id: 2, name: "b", count: 1, note: nil))
                    try tx.delete(Item.self, id: 2)
                    try tx.save(Item(id: 3, name: "a", count: 1, note: nil))
                    try tx.save(Item(id: 3, name: "b", count: 1, note: nil))
                }.commit)
            try await storage.save(Item(id: 2, name: "b", count: 1, note: nil))
            try await storage.save(Item(id: 3, name: "a", count: 1, note: nil))
            let plan = try await storage.revert(twice, onConflict: policy == .abort ? .skip : policy)
            let isLeft = policy != .overwrite
            #expect(plan.outcome.conflicts.count == (isLeft ? 1 : 0), "\(plan.outcome.conflicts)")
            #expect(try await storage.exists(Item.self, id: 2))
            #expect(try await storage.exists(Item.self, id: 3) == isLeft)
        }
    }

    /// What a commit leaves as it found it isn't its own, whatever becomes of it later.
    @Test("What a commit leaves as it was isn't reverted", arguments: ConflictPolicy.allCases)
    func unchangedValuesAreNotReverted(
        policy: ConflictPolicy
    ) async throws {
        let storage = try open()
        func save(_ id: Int, _ count: Int, name: String = "n") async throws {
            try await storage.save(Item(id: id, name: name, count: count, note: nil))
        }
        for id in 2...4 { try await save(id, 1) }
        let commit = try #require(
            try await storage.write { tx in
                // A row that comes and goes, one that goes and comes, and a column that is as it was.
                try tx.save(Item(id: 1, name: "n", count: 1, note: nil))
                try tx.delete(Item.self, id: 1)
                try tx.delete(Item.self, id: 2)
                try tx.save(Item(id: 2, name: "n", count: 1, note: nil))
                for (count, name) in [(2, "n"), (1, "m")] {
                    try tx.execute("UPDATE items SET count = ?, name = ? WHERE id = 3", [count, name])
                }
                for count in [2, 1] { try tx.execute("UPDATE items SET count = ? WHERE id = 4", [count]) }
            }.commit)
        // Whether it looks like a state in between or not.
        for count in [2, 7] {
            for id in 1...2 { try await save(id, count) }
            try await save(3, count, name: "m")
            try await storage.delete(Item.self, id: 4)
            let now = try await state(storage)
            let report = try await storage.revert(commit, onConflict: policy)
            #expect(report.outcome.conflicts.isEmpty)
            #expect(report.outcome.count == 1)
            #expect(try await state(storage) == now.map { $0.id == 3 ? Item(id: 3, name: "n", count: count) : $0 })
            try await storage.revert(try #require(report.receipt?.commit))
            #expect(try await state(storage) == now)
        }
    }

    /// So many rows that they aren't looked at all at once.
    @Test("What many rows leave as they were isn't reverted")
    func manyUnchangedRows() async throws {
        let storage = try open(segmentLength: 1_024)
        let count = 40_000
        let insert = """
            WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < \(count))
            INSERT INTO items(id, name, count, updatedAt, _position) SELECT id, 'n', 1, 0, 0 FROM ids
            """
        let commit = try #require(
            try await storage.write { tx in
                try tx.execute(insert)
                try tx.execute("DELETE FROM items WHERE id % 100 <> 0")
            }.commit)
        let others = stride(from: 1, to: count, by: 5_000).map { $0 }
        try await storage.save(others.map { Item(id: $0, name: "n", count: 1, note: nil) })
        let report = try await storage.revert(commit, onConflict: .overwrite)
        #expect(report.outcome.deleted == count / 100)
        #expect(report.outcome.count == count / 100)
        #expect(try await state(storage).map(\.id) == others)
    }

    /// Undo passes a commit that comes to nothing, and goes on passing it when the rows of older ones are there again.
    @Test("Undo skips a commit that inserts and deletes again")
    func undoSkipsEmptyCommit() async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "old", count: 1))
        try await storage.delete(Item.self, id: 1)
        try await storage.write { tx in
            try tx.save(Item(id: 1, name: "new", count: 2))
            try tx.delete(Item.self, id: 1)
        }
        try await storage.undo()
        #expect(try await state(storage).map(\.name) == ["old"])
        try await storage.undo()
        #expect(try await state(storage).isEmpty)
        try await storage.redo()
        #expect(try await state(storage).map(\.name) == ["old"])
    }

    /// A column that is somebody else's keeps the row, whatever it looks like.
    @Test("A row that others have changed stays")
    func rowChangedByOthersStays() async throws {
        for left in [1, 9] {
            let storage = try open()
            for count in 1...3 { try await storage.save(Item(id: 1, name: "n", count: count, note: nil)) }
            let last = try #require(try await storage.history(Item.self, id: 1).last?.commit.number)
            try await storage.save(Item(id: 1, name: "n", count: left, note: nil))
            let report = try await storage.revert(last - 2...last, onConflict: .skip)
            #expect(report.outcome.conflicts.count == 1)
            #expect(report.outcome.count == 0)
            #expect(try await storage.get(Item.self, id: 1)?.count == left)
        }
    }

    /// What moves away by itself isn't taken along, whatever the policy.
    @Test("Rows that moved away stay", arguments: ConflictPolicy.allCases)
    func movedRowsStay(policy: ConflictPolicy) async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "one", count: 0, note: nil))
        try await storage.save(Part(id: 1, itemId: 1, item: nil))
        let moved = try await storage.write { tx in
            try tx.execute("PRAGMA defer_foreign_keys = ON")
            try tx.save(Part(id: 1, itemId: 2, item: nil))
            try tx.save(Item(id: 2, name: "two", count: 0, note: nil))
        }
        let report = try await storage.revert(moved.commit ?? 0, onConflict: policy)
        #expect(report.outcome.updated == 1)
        #expect(report.outcome.deleted == 1)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await storage.get(Part.self, id: 1)?.itemId == 1)
    }

    @Test("Tags and notes stay when commits are reverted")
    func tagsSurviveRevert() async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "a", count: 1, note: nil))
        try await storage.tag("kept")
        try await storage.note("a note", at: .head)
        let last = try await storage.save(Item(id: 2, name: "b", count: 1, note: nil))
        let report = try await storage.revert(1...(last.commit ?? 0), onConflict: .skip)
        #expect(report.outcome.deleted == 2)
        #expect(report.outcome.count == 2)
        #expect(try await storage.tags().map(\.name) == ["kept"])
        #expect(try await storage.notes().count == 1)
    }

    /// A row whose parts go in the same breath doesn't take them along, in whichever order they came.
    @Test("Rows of the same commit are deleted with what they refer to")
    func referringRowsGoAlong() async throws {
        let storage = try open()
        try await storage.save(Item(id: 9, name: "other", count: 0, note: nil))
        let both = try await storage.write { tx in
            try tx.execute("PRAGMA defer_foreign_keys = ON")
            try tx.save(Part(id: 1, itemId: 1, item: nil))
            try tx.save(Item(id: 1, name: "late", count: 0, note: nil))
        }
        let report = try await storage.revert(both.commit ?? 0)
        #expect(report.outcome.deleted == 2)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await storage.count(Item.self) == 1)
        // A part of somebody else's stands in the way all the same.
        let item = try await storage.save(Item(id: 2, name: "two", count: 0, note: nil))
        try await storage.save(Part(id: 2, itemId: 2, item: nil))
        await #expect(throws: StorageError.self) { try await storage.revert(item.commit ?? 0) }
        #expect(try await storage.count(Item.self) == 2)
    }

    /// Commits of others may share the transaction in which a plan is made.
    @Test("A plan is of its own commit only")
    func planIsOfOneCommit() async throws {
        let store = try TemporaryStore { $0.autoSchema(ItemRecord.self, PartRecord.self) }
        let storage = store.storage
        let first = try await storage.save(Item(id: 1, name: "one", count: 0, note: nil))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 100..<300 {
                group.addTask { try await storage.save(Item(id: id, name: "others", count: 0, note: nil)) }
            }
            for _ in 0..<40 {
                group.addTask {
                    let plan = try await storage.revert(first.commit ?? 0, isDryRun: true)
                    #expect(plan.plan.map(\.key[0].value) == [.integer(1)])
                    #expect(plan.outcome.count == 1)
                }
            }
            try await group.waitForAll()
        }
    }

    /// What a dry run tells is what is then done.
    @Test("A dry run reports what is then done", arguments: testSeeds(2))
    func dryRunEqualsRevert(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        for _ in 0..<60 {
            guard let commit = try await change(storage, using: &random) else { continue }
            let head = storage.head
            let plan = try await storage.revert(commit, isDryRun: true)
            #expect(plan.revertedCommit == commit)
            #expect(plan.receipt == nil)
            #expect(storage.head == head)
            #expect(plan.plan.count == plan.outcome.count)
            try await storage.revert(commit)
            var done: [RowDifference] = []
            for try await row in storage.diff(from: .position(head)) { done.append(row) }
            func texts(_ rows: [RowDifference]) -> [String] {
                rows.map { row in
                    func text(_ fields: [StorageEvent.Field]?) -> String {
                        (fields ?? []).filter { $0.column != "updatedAt" }.map { "\($0.column)=\($0.value)" }.sorted()
                            .joined(separator: " ")
                    }
                    return "\(row.operation) \(row.table) \(row.key.map(\.value)) \(text(row.old)) → \(text(row.new))"
                }.sorted()
            }
            #expect(texts(plan.plan) == texts(done))
        }
    }

    @Test("Undo and redo walk through the history", arguments: testSeeds(2))
    func undoAndRedo(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        var states: [[Item]] = []
        for _ in 0..<25 {
            let (before, head) = (try await state(storage), storage.head)
            _ = try await change(storage, using: &random)
            // A commit that comes to nothing is passed over; one that has saved a row again has changed the time of it.
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

    /// An undo is of the person whose change it takes back, whoever runs it.
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

    /// What triggers did is an event as well: it is taken back as such, and they don't do it once more.
    @Test("Reverting doesn't fire triggers")
    func triggersDuringRevert() async throws {
        let storage = try open()
        try await storage.write { tx in
            try tx.execute(
                """
                CREATE TRIGGER parts_counted AFTER INSERT ON parts
                BEGIN UPDATE items SET count = count + 1 WHERE id = NEW.itemId; END
                """)
            try tx.execute(
                """
                CREATE TRIGGER parts_gone AFTER DELETE ON parts
                BEGIN UPDATE items SET count = count - 1 WHERE id = OLD.itemId; END
                """)
        }
        try await storage.save(Item(id: 1, name: "a", count: 0))
        let begun = storage.head
        let commit = try #require(try await storage.save(Part(id: 1, itemId: 1)).commit)
        let counted = storage.head
        func count() async throws -> Int? { try await storage.get(Item.self, id: 1)?.count }
        #expect(try await count() == 1)
        let revert = try await storage.revert(commit)
        #expect(try await count() == 0)
        try await storage.revert(try #require(revert.receipt?.commit))
        #expect(try await count() == 1)
        try await storage.restore(to: .position(begun))
        #expect(try await count() == 0)
        try await storage.restore(to: .position(counted))
        #expect(try await count() == 1)
        try await storage.undo()
        try await storage.redo()
        #expect(try await count() == 1)
        // From then on they do what they did.
        try await storage.save(Part(id: 2, itemId: 1))
        #expect(try await count() == 2)
    }

    /// - Parameter policy: nil to restore everything there is, rows that refer to others too.
    @Test("Unique values return to their row", arguments: ConflictPolicy.allCases + [nil])
    func uniqueValuesReturn(policy: ConflictPolicy?) async throws {
        let storage = try open()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX items_by_name ON items(name)") }
        try await storage.save([
            Item(id: 1, name: "a", count: 1), Item(id: 2, name: "b", count: 2), Item(id: 3, name: "c", count: 3),
        ])
        if policy == nil { try await storage.save(Part(id: 1, itemId: 3)) }
        let before = try await state(storage)
        let point = storage.head
        try await storage.write { tx in
            // Row 1's name goes to a new row, and two others exchange theirs.
            try tx.delete(Item.self, id: 1)
            try tx.execute("UPDATE items SET name = 'x' WHERE id = 2")
            try tx.execute("UPDATE items SET name = 'b' WHERE id = 3")
            try tx.execute("UPDATE items SET name = 'c' WHERE id = 2")
            try tx.save(Item(id: 4, name: "a", count: 4))
        }
        if let policy {
            let report = try await storage.restore(Item.self, to: .position(point), onConflict: policy)
            #expect(report.outcome.conflicts.isEmpty)
            #expect(report.outcome.count == 4)
        } else {
            try await storage.restore(to: .position(point))
            #expect(try await storage.get(Part.self, id: 1)?.itemId == 3)
        }
        #expect(try await state(storage) == before)
        #expect(try await storage.verify().isSound)
    }

    /// Of rows that can't be brought back for one that stays none is lost.
    @Test("Rows that can't be restored are reported")
    func rowsThatCantBeRestored() async throws {
        let storage = try open()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX items_by_name ON items(name)") }
        try await storage.save([Item(id: 1, name: "a", count: 1), Item(id: 2, name: "b", count: 2)])
        let point = storage.head
        try await storage.write { tx in
            try tx.execute("UPDATE items SET name = 'x' WHERE id = 1")
            try tx.execute("UPDATE items SET name = 'a' WHERE id = 2")
        }
        let after = try await state(storage)
        let error = await #expect(throws: StorageError.self) {
            try await storage.restore(Item.self, id: 1, to: .position(point))
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("conflicts with it") ?? false)
        let report = try await storage.restore(Item.self, id: 1, to: .position(point), onConflict: .skip)
        #expect(report.outcome.conflicts.count == 1)
        #expect(report.outcome.count == 0)
        #expect(try await state(storage) == after)
    }

    @Test("Columns are compared one by one")
    func columnsRevertSeparately() async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "a", count: 1, note: "old"))
        let commit = try #require(
            try await storage.write { try $0.execute("UPDATE items SET name = 'b', count = 2 WHERE id = 1") }.commit)
        try await storage.write { try $0.execute("UPDATE items SET note = 'later' WHERE id = 1") }
        try await storage.revert(commit)
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "a", count: 1, note: "later"))

        // The count is changed by somebody else: that is a conflict.
        let next = try #require(
            try await storage.write { try $0.execute("UPDATE items SET name = 'c', count = 5 WHERE id = 1") }.commit)
        try await storage.write { try $0.execute("UPDATE items SET count = 6 WHERE id = 1") }
        let head = storage.head
        let error = await #expect(throws: StorageError.self) { try await storage.revert(next) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("items/1#count") ?? false)
        #expect(storage.head == head)
        let skipped = try await storage.revert(next, onConflict: .skip)
        #expect(skipped.outcome.updated == 1)
        #expect(
            skipped.outcome.conflicts.map { [$0.column, "\($0.expected ?? .null)", "\($0.found ?? .null)"] }
                == [["count", "5", "6"]])
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "a", count: 6, note: "later"))
        try await storage.revert(next, onConflict: .overwrite)
        #expect(try await storage.get(Item.self, id: 1)?.count == 1)
    }

    @Test("Rows that were inserted or deleted since are conflicts")
    func laterInsertsAndDeletes() async throws {
        let storage = try open()
        let born = try #require(try await storage.save(Item(id: 1, name: "a", count: 1)).commit)
        try await storage.write { try $0.execute("UPDATE items SET name = 'b' WHERE id = 1") }
        await #expect(throws: StorageError.self) { try await storage.revert(born) }
        let died = try #require(try await storage.delete(Item.self, id: 1).commit)
        // What is gone already needn't be taken away.
        #expect(try await storage.revert(born).outcome.count == 0)
        try await storage.save(Item(id: 1, name: "other", count: 9))
        let error = await #expect(throws: StorageError.self) { try await storage.revert(died) }
        #expect(error?.message.contains("again") ?? false)
        try await storage.revert(died, onConflict: .overwrite)
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "b", count: 1))
    }

    @Test("Rows that refer to a row aren't deleted with it")
    func referringRowsConflict() async throws {
        let storage = try open()
        let commit = try #require(try await storage.save(Item(id: 1, name: "a", count: 1)).commit)
        try await storage.save(Part(id: 7, itemId: 1))
        let error = await #expect(throws: StorageError.self) { try await storage.revert(commit) }
        #expect(error?.code == .conflict)
        #expect(try await storage.count(Part.self) == 1)
        try await storage.revert(commit, onConflict: .overwrite)
        #expect(try await storage.count(Part.self) == 0)
        // Both come back from one commit, whatever their order.
        try await storage.undo()
        #expect(try await storage.count(Part.self) == 1)
        #expect(try await storage.count(Item.self) == 1)
    }

    @Test("Restoring gives the state of the point", arguments: testSeeds(2))
    func restoringToPoint(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        var points: [(position: Int64, items: [Item])] = []
        for _ in 0..<60 {
            _ = try await change(storage, using: &random)
            points.append((storage.head, try await state(storage)))
        }
        for point in points.shuffled(using: &random).prefix(20) {
            let events = storage.head
            try await storage.restore(Item.self, to: .position(point.position), reason: "go back")
            #expect(try await state(storage) == point.items)
            #expect(storage.head >= events)
            let id = Int.random(in: 0..<8, using: &random)
            let other = try #require(points.randomElement(using: &random))
            try await storage.restore(Item.self, id: id, to: .position(other.position))
            #expect(try await storage.get(Item.self, id: id) == other.items.first { $0.id == id })
        }
        try await storage.save(Item(id: 50, name: "late", count: 0))
        try await storage.save(Part(id: 1, itemId: 50))
        try await storage.restore(to: .position(points[0].position))
        #expect(try await state(storage) == points[0].items)
        #expect(try await storage.count(Part.self) == 0)
        #expect(try await storage.verify().isSound)
    }

    private func openTable(_ sql: String, _ tables: String...) throws -> Storage {
        try StorageKit.inMemory { schema in
            schema.migration("tables") { try $0.execute(sql: sql) }
            for table in tables { schema.adopt(table) }
        }.facade
    }

    @discardableResult
    private func run(_ sql: String, _ storage: Storage) async throws -> Int64 {
        try #require(try await storage.write { try $0.execute(sql) }.commit)
    }

    /// What the schema says of conflicts would delete a row of somebody else's, or leave one out.
    @Test("Conflict clauses of the schema don't affect a revert", arguments: ["REPLACE", "IGNORE"])
    func conflictClauses(
        clause: String
    ) async throws {
        let storage = try openTable("CREATE TABLE u(id INTEGER PRIMARY KEY, x UNIQUE ON CONFLICT \(clause))", "u")
        func rows() async throws -> [String] {
            try await storage.read { try String.fetchAll($0, sql: "SELECT id || x FROM u ORDER BY id") }
        }
        try await run("INSERT INTO u(id, x) VALUES (1, 'x'), (3, 'y')", storage)
        let deletion = try await run("DELETE FROM u WHERE id = 1", storage)
        let update = try await run("UPDATE u SET x = 'z' WHERE id = 3", storage)
        try await run("INSERT INTO u(id, x) VALUES (2, 'x'), (4, 'y')", storage)
        for commit in [deletion, update] {
            let error = await #expect(throws: StorageError.self) { try await storage.revert(commit) }
            #expect(error?.code == .conflict)
            let report = try await storage.revert(commit, onConflict: .skip)
            #expect(report.outcome.conflicts.count == 1)
            #expect(report.outcome.count == 0)
        }
        #expect(try await rows() == ["2x", "3z", "4y"])
    }

    /// A value that must be unique is another row's by now, also where the row itself is there again.
    @Test("A row that was inserted again may have lost its unique value")
    func reinsertedRowLostUniqueValue() async throws {
        let storage = try openTable("CREATE TABLE w(id INTEGER PRIMARY KEY, u UNIQUE)", "w")
        try await run("INSERT INTO w(id, u) VALUES (1, 'x')", storage)
        let deletion = try await run("DELETE FROM w WHERE id = 1", storage)
        try await run("INSERT INTO w(id, u) VALUES (1, 'q'), (2, 'x')", storage)
        let report = try await storage.revert(deletion, onConflict: .overwrite)
        #expect(report.outcome.conflicts.map(\.key) == [[.integer(1)]])
        #expect(report.outcome.conflicts.first?.reason.contains("another row conflicts with it") == true)
        #expect(report.outcome.count == 0)
    }

    /// Two spellings of a key are one row to the table and two to the log.
    @Test("The spelling of a key is reverted")
    func spellingOfKeyReverts() async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER);
            CREATE TABLE b(id INTEGER PRIMARY KEY, k TEXT NOT NULL REFERENCES a(k) ON UPDATE CASCADE ON DELETE CASCADE);
            """, "a", "b")
        func rows() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(db, sql: "SELECT k || n FROM a UNION ALL SELECT id || k FROM b")
            }
        }
        try await run("INSERT INTO a(k, n) VALUES ('a', 1); INSERT INTO b(id, k) VALUES (1, 'a')", storage)
        let point = storage.head
        let before = try await rows()
        let spelling = try await run("UPDATE a SET k = 'A' WHERE k = 'a'", storage)
        let after = try await rows()
        let report = try await storage.revert(spelling)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await rows() == before)
        try await storage.revert(try #require(report.receipt?.commit))
        #expect(try await rows() == after)
        let first = try await run("UPDATE a SET n = 2", storage)
        let last = try await run("UPDATE a SET k = 'a', n = 3", storage)
        try await storage.revert(first...last)
        #expect(try await rows() == after)
        // What came since is a conflict as ever.
        let again = try await run("UPDATE a SET k = 'a'", storage)
        try await run("UPDATE a SET n = 9", storage)
        let error = await #expect(throws: StorageError.self) { try await storage.revert(again) }
        #expect(error?.code == .conflict)
        for spelling in ["A", "a"] {
            try await run("UPDATE a SET k = '\(spelling)', n = 8", storage)
            try await storage.restore(to: .position(point))
            #expect(try await rows() == before)
        }
        #expect(try await storage.verify().isSound)
    }

    @Test("A commit of only the schema has nothing to revert")
    func schemaCommitCantBeReverted() async throws {
        let storage = try open()
        let error = await #expect(throws: StorageError.self) { try await storage.revert(1) }
        #expect(error?.code == .notFound)
        await #expect(throws: StorageError.self) { try await storage.revert(99) }
        await #expect(throws: StorageError.self) { try await storage.undo() }
    }
}
