import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageHistory
import StorageKit
import StorageLog
import StorageMaintenance
import StorageProjections
import StorageTesting
import Testing

// The examples of the cookbook, compiled and run. `DocumentationTests` holds the pages to this file.

@StorageEntity
struct Invoice {
    var id: Int
    var customer: String
    var cents: Int
    var note: String = ""
}

/// The next version of an invoice.
@StorageEntity(table: "invoices")
struct Bill {
    var id: Int
    var client: String
    var cents: Int
    var note: String = ""
    var isPaid: Bool = false
}

enum CookbookExample {
    static func run(_ url: URL) async throws {
        let storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(InvoiceRecord.self)
            schema.addFullTextSearch(table: "invoices", columns: ["customer", "note"])
        }.facade
        for id in 1...3 {
            try await storage.write(actor: "anna", reason: "order \(id)") { tx in
                try tx.save(Invoice(id: id, customer: "Kafka", cents: 100 * id))
            }
        }
        try await undo(storage)
        try await audit(storage)
        try await findWho(storage)
        try await requests(storage)
        try await locking(storage)
        try await past(storage)
        try await repair(storage)
        try await search(storage)
        try await follow(storage)
        try await storage.close()
        let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
        #expect(try await reader.count(Invoice.self) == 5)
        try await reader.close()
        try await migrate(url)
        try await totals()
        try await tests()
    }

    private static func undo(_ storage: Storage) async throws {
        let user = "anna"
        let last = try? await storage.undo(of: user, onConflict: .skip, isDryRun: true)
        if let commit = last?.revertedCommit {
            let summary = try await storage.log.commit(at: .commit(commit))
            print("Undo", summary.metadata.reason ?? "last change")
        }
        try await storage.undo(of: user, reason: "undo button")
        #expect(try await storage.count(Invoice.self) == 2)
        try await storage.redo(of: user, reason: "redo button")
        #expect(try await storage.count(Invoice.self) == 3)
        // A later change doesn't disable the menu item.
        try await storage.save(Invoice(id: 3, customer: "Kafka", cents: 301))
        let kept = try await storage.undo(of: user, onConflict: .skip, isDryRun: true)
        #expect(kept.revertedCommit != nil)
        #expect(!kept.outcome.conflicts.isEmpty)
        try await storage.delete(Invoice.self, id: 2)
        let versions = try await storage.history(Invoice.self, id: 2)
        if let deleted = versions.last, deleted.operation == .delete {
            try await storage.restore(Invoice.self, id: 2, to: .position(deleted.position - 1), reason: "trash")
        }
        #expect(try await storage.exists(Invoice.self, id: 2))
    }

    private static func audit(_ storage: Storage) async throws {
        let since = Date.distantPast
        let query = LogQuery(tables: ["invoices"], operations: [.update, .delete], dates: since...Date())
        for try await event in storage.log.events(query) {
            let metadata = event.commit.metadata
            print(event.commit.date, event.operation, event.key[0].value, metadata.actor ?? "-", metadata.reason ?? "-")
            for field in event.new ?? [] {
                print(" ", field.column, event.old?[field.column] ?? .null, "→", field.value)
            }
        }
        for try await commit in storage.log.commits(LogQuery(actors: ["anna"], descending: true)) {
            print(commit.number, commit.date, commit.changes["invoices"]?.total ?? 0)
        }
    }

    private static func findWho(_ storage: Storage) async throws {
        for value in try await storage.blame(Invoice.self, id: 1) ?? [] {
            let metadata = value.commit.metadata
            print(value.field.column, value.field.value, metadata.actor ?? "-", metadata.reason ?? "-")
        }
    }

    private static func requests(_ storage: Storage) async throws {
        struct Request: Sendable {
            var user = "ben"
            var id = "4f1c"
        }
        @Sendable func respond(to request: Request) async throws {
            try await storage.save(Invoice(id: 4, customer: "Brod", cents: 900))
        }
        let request = Request()
        try await CommitContext.$actor.withValue(request.user) {
            try await CommitContext.$correlation.withValue(request.id) {
                try await respond(to: request)
            }
        }
        #expect(try await storage.log.commit(at: .head).metadata.correlation == "4f1c")
        let receipt = try await storage.write(idempotencyKey: request.id) { tx in
            try tx.save(Invoice(id: 5, customer: "Brod", cents: 100))
        }
        if receipt.isDuplicate { print("already done in commit", receipt.commit ?? 0) }
    }

    private static func locking(_ storage: Storage) async throws {
        guard let (found, position) = try await storage.getWithPosition(Invoice.self, id: 4) else { return }
        var invoice = found
        invoice.cents += 50
        do {
            try await storage.save(invoice, expecting: .position(position))
        } catch let error as StorageError where error.code == .conflict {
            print("Another change came first.", error.remedy)
        }
        await #expect(throws: StorageError.self) {
            _ = try await storage.save(found, expecting: .position(position))
        }
    }

    private static func past(_ storage: Storage) async throws {
        try await storage.tag("month-end", note: "sent to the tax office")
        try await storage.query(Invoice.self).where { $0.customer == "Brod" }.updateAll {
            $0.customer.set(to: "Brod Ltd")
        }
        let then = try await storage.asOf(.tag("month-end"))
        let total = try await then.query(Invoice.self).sum(\.cents)
        let invoices = try await then.query(Invoice.self).where { $0.customer == "Brod" }.fetch()
        for try await change in storage.diff(Invoice.self, from: .tag("month-end")) {
            print(change.old?.customer ?? "new", "→", change.new?.customer ?? "deleted")
        }
        _ = total
        #expect(invoices.count == 2)
    }

    private static func repair(_ storage: Storage) async throws {
        let (_, bad) = try await storage.write(actor: "importer", reason: "nightly import") { tx in
            try tx.query(Invoice.self).updateAll { $0.cents.set(to: 0) }
        }
        try await storage.save(Invoice(id: 1, customer: "Kafka & Sons", cents: 0))
        let number = bad.commit ?? 0
        let plan = try await storage.revert(number, onConflict: .skip, isDryRun: true)
        print(plan.outcome.count, "rows,", plan.outcome.conflicts.count, "conflicts")
        try await storage.revert(number, onConflict: .skip, actor: "anna", reason: "import was wrong")
        #expect(try await storage.get(Invoice.self, id: 4)?.cents == 950)
        let verification = try await storage.verify()
        if !verification.isSound { try await storage.rebuild() }
    }

    private static func search(_ storage: Storage) async throws {
        for result in try await storage.search(Invoice.self, query: "brod", excerpt: .snippet(column: "customer")) {
            print(result.entity.id, result.snippet ?? "")
        }
    }

    private static func follow(_ storage: Storage) async throws {
        let token = try await storage.changeToken(at: 0)
        for try await change in storage.changes(since: token, matching: LogQuery(tables: ["invoices"])) {
            for event in change.events { print(event.operation, event.key) }
            let saved = change.token.text
            _ = saved
            break
        }
    }

    private static func migrate(_ url: URL) async throws {
        let declare: (inout Schema) -> Void = { schema in
            schema.renameColumn("customer", to: "client", in: "invoices")
            schema.autoSchema(BillRecord.self)
            schema.addFullTextSearch(table: "invoices", columns: ["client", "note"])
            schema.migration("2026-03-01_small_ones_are_paid") { db in
                try db.execute(sql: "UPDATE invoices SET isPaid = TRUE WHERE cents < 200")
            }
        }
        print(try StorageKit.plan(at: url, declare))
        let storage = try StorageKit.start(at: url, declare).facade
        #expect(try await storage.query(Bill.self).where { $0.isPaid == true }.count() == 2)
        try await storage.close()
    }

    private static func totals() async throws {
        let totals = try SQLProjection(
            name: "cents_by_customer",
            sql: """
                CREATE TABLE cents_by_customer(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL);
                -- on insert, update of invoices
                INSERT INTO cents_by_customer VALUES (:new_customer, :new_cents)
                  ON CONFLICT DO UPDATE SET cents = cents + excluded.cents;
                -- on update, delete of invoices
                UPDATE cents_by_customer SET cents = cents - :old_cents WHERE customer = :old_customer;
                """)
        let store = try TemporaryStore { schema in
            schema.autoSchema(InvoiceRecord.self)
            schema.addProjection(totals, mode: .inline)
        }
        try await store.storage.save(Invoice(id: 1, customer: "Kafka", cents: 100))
        try await store.storage.save(Invoice(id: 1, customer: "Brod", cents: 40))
        let cents = try await store.storage.read { db in
            try Int.fetchAll(db, sql: "SELECT cents FROM cents_by_customer ORDER BY customer")
        }
        #expect(cents == [40, 0])
    }

    private typealias Order = ProjectionExample.Order
    private typealias OrderRecord = ProjectionExample.OrderRecord
    private typealias OrderTotals = ProjectionExample.OrderTotals

    private static func tests() async throws {
        let clock = ManualClock()
        let store = try TemporaryStore(config: StorageConfig(clock: clock)) { $0.autoSchema(InvoiceRecord.self) }
        try await store.storage.save(Invoice(id: 1, customer: "Kafka", cents: 100))
        clock.advance(by: .seconds(60))
        try await store.storage.save(Invoice(id: 1, customer: "Kafka", cents: 200))
        try await store.reopen()
        #expect(try await store.storage.logText() == ["insert invoices/1", "update invoices/1 cents updatedAt"])
        #expect(try await store.storage.verify().isSound)

        let conformance = ProjectionConformance(OrderTotals()) { schema in
            schema.autoSchema(OrderRecord.self)
        } history: { storage in
            try await storage.save(Order(id: 1, customer: "anna", cents: 500))
            try await storage.save(Order(id: 1, customer: "ben", cents: 400))
            try await storage.delete(Order.self, id: 1)
        }
        #expect(try await conformance.run() == [])
    }
}
