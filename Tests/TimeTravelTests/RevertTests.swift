import Foundation
import StorageEntities
import StorageHistory
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Changes are reverted by changes, and nothing is overwritten silently.
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

    func open(segmentLength: Int = 16) throws -> Storage {
        var configuration = StorageConfig()
        configuration.segmentLength = segmentLength
        return try StorageKit.inMemory(config: configuration) {
            $0.autoSchema(ItemRecord.self, PartRecord.self)
        }.facade
    }

    /// The ids of items, at both ends of what there is.
    static let ids = [Int.min, -1, 0, 1, 2, 3, 4, Int.max]

    func state(_ storage: Storage) async throws -> [Item] { try await storage.all(Item.self) }

    private enum Change {
        case delete(Int)
        case count(Int)
        case save(Item)
    }

    /// A commit of a few random changes; nil where they changed nothing.
    func change(
        _ storage: Storage, using random: inout SplitMix64, by actor: String? = nil
    ) async throws -> Int64? {
        var changes: [Change] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let id = Self.ids[Int.random(in: 0..<8, using: &random)]
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
        for _ in 0..<80 {
            let before = try await state(storage)
            guard let commit = try await change(storage, using: &random) else { continue }
            let after = try await state(storage)
            let dry = try await storage.revert(commit, isDryRun: true)
            #expect(dry.receipt == nil)
            #expect(try await state(storage) == after)
            let report = try await storage.revert(commit, actor: "anna", reason: "oops")
            #expect(report.outcome == dry.outcome)
            #expect(try await state(storage) == before)
            // A commit may have no net change, and then there is nothing to revert.
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

    @Test("A value that others have set back needs no revert", arguments: ConflictPolicy.allCases)
    func othersHaveSetBack(policy: ConflictPolicy) async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "a", count: 1, note: "old"))
        let first = try #require(try await storage.save(Item(id: 1, name: "a", count: 1, note: nil)).commit)
        let last = try #require(try await storage.save(Item(id: 1, name: "b", count: 1, note: "new")).commit)
        try await storage.save(Item(id: 1, name: "b", count: 1, note: "old"))
        let report = try await storage.revert(first...last, onConflict: policy)
        #expect(report.outcome.conflicts.isEmpty, "\(report.outcome.conflicts)")
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "a", count: 1, note: "old"))
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
            // The same of a commit by itself. A row that was inserted and deleted again needs no revert.
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

    /// Undo skips a commit without a net change, also when the rows of older ones are there again.
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
        // A part of somebody else's conflicts all the same.
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

    /// What a dry run reports is what is then done.
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
}
