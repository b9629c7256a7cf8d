import Foundation
import GRDB
import StorageKit
import StorageLog
import StorageProjections
import StorageTesting
import Testing

/// Projections in SQL: what a text means, what is refused, and that they are projections like any other.
struct SQLProjectionTests {
    private typealias Order = ProjectionExample.Order

    static let totals = """
        -- What customers have ordered; a comment of its own.
        CREATE TABLE order_totals(customer TEXT PRIMARY KEY, orders INTEGER NOT NULL, cents INTEGER NOT NULL);

        -- on update, delete of orders
        UPDATE order_totals SET orders = orders - 1, cents = cents - :old_cents WHERE customer = :old_customer;
        -- on insert or update of orders
        INSERT INTO order_totals VALUES (:new_customer, 1, :new_cents)
          ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + excluded.cents;
        -- ON UPDATE, DELETE OF orders
        -- Behind a comment.
        DELETE FROM order_totals WHERE orders = 0; -- ';' in a comment
        """

    private func fill(_ storage: Storage) async throws {
        for number in 0..<12 {
            try await storage.write(actor: "a\(number % 2)") { tx in
                try tx.save(Order(id: number, customer: "c\(number % 3)", cents: number))
                try tx.save(Order(id: number % 4, customer: "c\(number % 5)", cents: number * 10))
                if number % 3 == 2 { try tx.delete(Order.self, id: number - 1) }
            }
        }
    }

    /// Editors on Windows end lines with CR and LF, which Swift takes for one character.
    @Test("It conforms and equals the projection in Swift", arguments: ["\n", "\r\n"])
    func equalsSwiftProjection(lineEnd: String) async throws {
        let projection = try SQLProjection(name: "order_totals", sql: Self.totals.replacing("\n", with: lineEnd))
        #expect(projection.entities == ["orders"])
        let kit = ProjectionConformance(projection) {
            $0.autoSchema(ProjectionExample.OrderRecord.self)
        } history: {
            try await fill($0)
        }
        #expect(try await kit.run() == [])
        let store = try TemporaryStore { $0.autoSchema(ProjectionExample.OrderRecord.self) }
        try await fill(store.storage)
        let comparison = try await store.storage.compareReplay(old: ProjectionExample.OrderTotals(), new: projection)
        #expect(comparison.isEqual)
        #expect(comparison.events > 24)
    }

    /// Events are applied one by one, also those of a row that was inserted and deleted in one commit.
    @Test("Every event is passed with its commit")
    func eventParameters() async throws {
        let projection = try SQLProjection(
            name: "journal",
            sql: """
                CREATE TABLE journal(position INTEGER PRIMARY KEY, op TEXT, number INTEGER, actor TEXT, time TEXT, old, new);
                -- on insert, update, delete\tof\torders
                INSERT INTO journal VALUES (:position, :op, :commit, :actor, :time, :old_cents, :new_cents);
                """)
        let store = try TemporaryStore { schema in
            schema.autoSchema(ProjectionExample.OrderRecord.self)
            schema.addProjection(projection, mode: .inline)
        }
        let receipt = try await store.storage.write(actor: "anna") { tx in
            try tx.save(Order(id: 1, customer: "c", cents: 5))
            try tx.save(Order(id: 1, customer: "d", cents: 5))
            try tx.save(Order(id: 1, customer: "d", cents: 7))
            try tx.delete(Order.self, id: 1)
        }
        let rows = try await store.storage.read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT op || '|' || number || '|' || actor || '|' || ifnull(old, '-') || '|' || ifnull(new, '-')
                    FROM journal ORDER BY position
                    """)
        }
        let commit = try #require(receipt.commit)
        #expect(
            rows == [
                "insert|\(commit)|anna|-|5", "update|\(commit)|anna|5|5", "update|\(commit)|anna|5|7",
                "delete|\(commit)|anna|7|-",
            ])
        // Read again, in batches of any size, it is the same.
        try await store.storage.projections.rebuild("journal")
        #expect(try await store.storage.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") } == 4)
    }

    @Test(
        "Text that can't be parsed is refused",
        arguments: [
            ("CREATE TABLE t(a)", "no rule"),
            ("CREATE TABLE t(a);\n-- on inserts of orders\nDELETE FROM t;", "'inserts'"),
            ("CREATE TABLE t(a);\n-- on insert of orders\nDELETE FROM t WHERE a = 'open;", "no end"),
        ])
    func unreadableText(text: String, part: String) {
        let error = #expect(throws: StorageError.self) { try SQLProjection(name: "t", sql: text) }
        #expect(error?.message.contains(part) ?? false, "\(error?.message ?? "")")
    }

    @Test(
        "Unknown names fail at the first event",
        arguments: [
            ("INSERT INTO t VALUES (:new_cent)", "\"cent\""), ("INSERT INTO t VALUES (:cents)", ":cents"),
            ("INSERT INTO u VALUES (1)", "no such table"),
        ])
    func unknownParameters(rule: String, part: String) async throws {
        let store = try TemporaryStore { $0.autoSchema(ProjectionExample.OrderRecord.self) }
        try await fill(store.storage)
        let projection = try SQLProjection(name: "t", sql: "CREATE TABLE t(a);\n-- on insert of orders\n\(rule);")
        let storage = store.storage
        let error = await #expect(throws: StorageError.self) {
            try await storage.compareReplay(old: projection, new: projection)
        }
        #expect(error?.code == .projectionFailed, "\(error?.message ?? "")")
        #expect(error?.message.contains(part) ?? false, "\(error?.message ?? "")")
    }
}
