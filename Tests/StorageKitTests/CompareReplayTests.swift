import Foundation
import GRDB
import StorageKit
import StorageLog
import StorageProjections
import StorageTesting
import Testing

/// Two versions of a projection on one history: the first difference is found exactly, and the rows that differ are listed.
struct CompareReplayTests {
    private typealias Order = ProjectionExample.Order

    /// Adds up cents, but for orders of one size, of which it makes something else.
    private func totals(_ mistake: String = "", extra: String = "") throws -> SQLProjection {
        try SQLProjection(
            name: "totals",
            sql: """
                CREATE TABLE totals(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL\(extra));
                -- on insert, update of orders
                INSERT INTO totals(customer, cents) VALUES (:new_customer, :new_cents \(mistake))
                  ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
                -- on update, delete of orders
                UPDATE totals SET cents = cents - :old_cents WHERE customer = :old_customer;
                """)
    }

    private func store() throws -> TemporaryStore {
        try TemporaryStore { $0.autoSchema(ProjectionExample.OrderRecord.self) }
    }

    @Test("A planted difference is found where it was planted", arguments: [1, 17, 60])
    func plantedDifferenceIsLocated(place: Int) async throws {
        let store = try store()
        var planted: CommitReceipt?
        for number in 1...60 {
            let receipt = try await store.storage.write { tx in
                try tx.save(Order(id: number * 3, customer: "c\(number % 4)", cents: number))
                try tx.save(Order(id: number * 3 + 1, customer: "c\(number % 5)", cents: number == place ? 777 : 1))
                try tx.save(Order(id: number * 3 + 2, customer: "c\(number % 5)", cents: 2))
            }
            if number == place { planted = receipt }
        }
        let receipt = try #require(planted)
        let comparison = try await store.storage.compareReplay(
            old: totals(), new: totals("+ (:new_cents = 777)"))
        #expect(comparison.divergence?.position == receipt.position - 1)
        #expect(comparison.divergence?.commit?.number == receipt.commit)
        #expect(comparison.divergence?.isBeforeRange == false)
        #expect(comparison.events == 180)
        #expect(comparison.differingRows == 1)
        let row = try #require(comparison.differences.first)
        #expect(row.operation == .update)
        #expect(row.key.map(\.value) == [.text("c\(place % 5)")])
        guard case .integer(let old)? = row.old?.first?.value, case .integer(let new)? = row.new?.first?.value else {
            Issue.record("no integers")
            return
        }
        #expect(new == old + 1)
        // Before the mistake they are the same; behind it they differ from the beginning.
        let before = try await store.storage.compareReplay(
            old: totals(), new: totals("+ (:new_cents = 777)"), to: .position(receipt.position - 2))
        #expect(before.isEqual)
        let behind = try await store.storage.compareReplay(
            old: totals(), new: totals("+ (:new_cents = 777)"), from: .position(receipt.position))
        #expect(behind.divergence?.isBeforeRange == true)
        #expect(behind.divergence?.position == receipt.position)
    }

    /// What differs for a while only is found too.
    @Test("A difference that disappears again is found")
    func temporaryDifference() async throws {
        let store = try store()
        try await store.storage.save(Order(id: 1, customer: "a", cents: 1))
        let receipt = try await store.storage.save(Order(id: 2, customer: "a", cents: 777))
        try await store.storage.delete(Order.self, id: 2)
        let new = try SQLProjection(
            name: "totals",
            sql: """
                CREATE TABLE totals(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL);
                -- on insert of orders
                INSERT INTO totals(customer, cents) VALUES (:new_customer, :new_cents + (:new_cents = 777))
                  ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
                -- on delete of orders
                UPDATE totals SET cents = cents - :old_cents - (:old_cents = 777) WHERE customer = :old_customer;
                """)
        let comparison = try await store.storage.compareReplay(old: totals(), new: new)
        #expect(comparison.divergence?.position == receipt.position)
        #expect(comparison.differingRows == 0)
        #expect(!comparison.isEqual)
    }

    /// A commit that is handed over in several slices is looked through event by event as well.
    @Test("Large commits are searched event by event", arguments: [1_500, 2_000])
    func differenceInLargeCommit(place: Int) async throws {
        let store = try store()
        try await store.storage.save(Order(id: 0, customer: "a", cents: 1))
        let receipt = try await store.storage.save(
            (1...2_000).map { Order(id: $0, customer: "c\($0 % 7)", cents: $0 == place ? 777_777 : $0) })
        let comparison = try await store.storage.compareReplay(old: totals(), new: totals("+ (:new_cents = 777777)"))
        #expect(comparison.divergence?.position == receipt.position - 2_000 + Int64(place))
    }

    /// Rows that fail half-way and are skipped, and rows that OR REPLACE deletes, don't matter.
    private struct Stubborn: Projection {
        let name = "stubborn"
        let version = 1
        let entities = ["orders"]
        let fails: Bool

        func prepare(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE seen(id INTEGER PRIMARY KEY, cents REAL, UNIQUE(cents))")
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for change in try batch.changes(of: Order.self) {
                guard let new = change.new else { continue }
                // The second row violates the constraint, so the first is undone as well.
                if fails { try? db.execute(sql: "INSERT INTO seen VALUES (-1, -1), (-2, -1)") }
                try db.execute(sql: "INSERT OR REPLACE INTO seen VALUES (?, ?)", arguments: [new.id, new.cents])
            }
        }
    }

    @Test("A batch that was undone makes no difference")
    func revertedBatchIsNoDifference() async throws {
        let store = try store()
        for number in 1...20 {
            try await store.storage.save(Order(id: number % 6, customer: "a", cents: number % 4))
        }
        let comparison = try await store.storage.compareReplay(old: Stubborn(fails: false), new: Stubborn(fails: true))
        #expect(comparison.isEqual, "\(comparison)")
    }

    @Test("Tables that only one side has are reported")
    func tablesOfOneSideOnly() async throws {
        let store = try store()
        try await store.storage.save(Order(id: 1, customer: "a", cents: 1))
        let comparison = try await store.storage.compareReplay(old: totals(), new: totals(extra: ", note TEXT"))
        #expect(comparison.onlyNew == ["totals.note"])
        #expect(comparison.onlyOld.isEmpty)
        #expect(comparison.divergence == nil)
        #expect(comparison.differingRows == 0)
        #expect(!comparison.isEqual)
        let storage = store.storage
        let other = try SQLProjection(
            name: "other", sql: "CREATE TABLE other(a);\n-- on insert of orders\nINSERT INTO other VALUES (1);")
        let old = try totals()
        let error = await #expect(throws: StorageError.self) { try await storage.compareReplay(old: old, new: other) }
        #expect(error?.code == .invalidArgument)
        let stranger = try SQLProjection(
            name: "other", sql: "CREATE TABLE totals(a);\n-- on insert of order\nINSERT INTO totals VALUES (1);")
        let missing = await #expect(throws: StorageError.self) {
            try await storage.compareReplay(old: old, new: stranger)
        }
        #expect(missing?.code == .notFound)
    }

    @Test("Differing rows are listed up to a limit")
    func differingRowsUpToLimit() async throws {
        let store = try store()
        try await store.storage.save((1...50).map { Order(id: $0, customer: "c\($0)", cents: $0) })
        let comparison = try await store.storage.compareReplay(old: totals(), new: totals("* 2"), limit: 3)
        #expect(comparison.differences.count == 3)
        #expect(comparison.differingRows == 50)
        #expect(comparison.differences.map { $0.key[0].value } == ["c1", "c10", "c11"].map { .text($0) })
    }
}
