import CSQLite
import GRDB
import StorageCore
import Synchronization
import Testing

@testable import StorageLog

/// Those who follow commits get columns that they ask for also where an update leaves them alone, and nothing else
/// changes by that: neither what is in the log nor what a commit may hold.
@Suite struct AuxiliaryValueTests {
    private final class Asker: Sendable {}

    private struct Attached: Equatable, CustomStringConvertible {
        let event: Int
        let column: String
        let value: StorageValue
        var description: String { "\(event) \(column) \(value)" }
    }

    /// A store with the table `t(id, a, b, c)`, and what each of its transactions has attached.
    private final class Reported: Sendable {
        let engine: StorageEngine
        let asker = Asker()
        let transactions = Mutex<[[Attached]]>([])
        private let observation = Mutex<StorageObservation?>(nil)

        init() async throws {
            engine = try TestStore.inMemory()
            try await engine.adopt(
                "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c, _position INTEGER NOT NULL DEFAULT 0)")
            try await engine.commit(
                "INSERT INTO t VALUES (1, 'one', 1.5, NULL, 0), (2, 'two', 2, x'02', 0), (3, '', 3, 3, 0)")
            let new = engine.observers.add { [weak self] in self?.take($0) }
            observation.withLock { $0 = new }
        }

        private func take(_ events: CommittedEvents) {
            let attached = events.attached.values.map { attachment in
                var value = attachment.value
                if value.type == UInt32(SQLITE_TEXT) || value.type == UInt32(SQLITE_BLOB) {
                    value.bits = UInt64(UInt(bitPattern: events.attached.bytes)) + value.bits
                }
                let name = events.catalog.column(id: attachment.column)?.name ?? ""
                return Attached(event: Int(attachment.event), column: name, value: Self.read(value))
            }
            transactions.withLock { $0.append(attached) }
        }

        private static func read(_ value: storage_value) -> StorageValue {
            let bytes = UnsafeRawBufferPointer(
                start: UnsafeRawPointer(bitPattern: UInt(value.bits)), count: Int(value.size))
            switch Int32(value.type) {
            case SQLITE_INTEGER: return .integer(Int64(bitPattern: value.bits))
            case SQLITE_FLOAT: return .real(Double(bitPattern: value.bits))
            case SQLITE_TEXT: return .text(String(decoding: bytes, as: UTF8.self))
            case SQLITE_BLOB: return .blob(.init(bytes))
            default: return .null
            }
        }

        func ask(for names: [String]) async throws {
            let ids = try await engine.withWriter { writer, _ in
                names.compactMap { name in
                    writer.catalog.entity(named: "t")?.live.first { $0.name == name }?.id
                }
            }
            engine.observers.requestedColumns.request(ids, for: asker)
        }

        /// What a transaction attaches.
        func attached(by sql: String) async throws -> [Attached] {
            transactions.withLock { $0 = [] }
            try await engine.commit(sql)
            let reported = transactions.withLock { $0 }
            #expect(reported.count == 1)
            return reported.first ?? []
        }
    }

    @Test("Updates attach the requested columns they left alone")
    func attachedColumns() async throws {
        let reported = try await Reported()
        #expect(try await reported.attached(by: "UPDATE t SET a = 'x' WHERE id = 1").isEmpty)
        try await reported.ask(for: ["b", "c"])
        #expect(
            try await reported.attached(by: "UPDATE t SET a = 'uno' WHERE id = 1; UPDATE t SET b = 7 WHERE id = 2") == [
                Attached(event: 0, column: "b", value: .real(1.5)), Attached(event: 0, column: "c", value: .null),
                Attached(event: 1, column: "c", value: .blob(.init([2]))),
            ])
        // Whole rows are recorded anyway, also those that get another key.
        #expect(try await reported.attached(by: "INSERT INTO t(id) VALUES (9); DELETE FROM t WHERE id = 9").isEmpty)
        #expect(try await reported.attached(by: "UPDATE t SET id = 30 WHERE id = 3").isEmpty)
        try await reported.ask(for: [])
        #expect(try await reported.attached(by: "UPDATE t SET a = 'y' WHERE id = 1").isEmpty)
    }

    @Test("Undone statements attach nothing")
    func undoneUpdatesAttachNothing() async throws {
        let reported = try await Reported()
        try await reported.ask(for: ["a"])
        let attached = try await reported.attached(
            by: """
                UPDATE t SET b = 10 WHERE id = 1;
                SAVEPOINT s;
                UPDATE t SET b = 20 WHERE id = 2;
                ROLLBACK TO s;
                UPDATE t SET b = 30 WHERE id = 3;
                UPDATE t SET b = 20 WHERE id = 2;
                """)
        #expect(
            attached == [
                Attached(event: 0, column: "a", value: "one"), Attached(event: 1, column: "a", value: ""),
                Attached(event: 2, column: "a", value: "two"),
            ])
        // A statement that fails half-way takes what it attached with it.
        try await reported.engine.commit(
            "CREATE TRIGGER f AFTER UPDATE OF c ON t WHEN new.id = 2 BEGIN SELECT RAISE(ABORT, 'f'); END")
        _ = try? await reported.engine.commit(CommitMetadata()) { _, db in
            try? db.execute(sql: "UPDATE t SET c = 5")
            try db.execute(sql: "UPDATE t SET c = 5 WHERE id = 3")
        }
        #expect(reported.transactions.withLock { $0.last } == [Attached(event: 0, column: "a", value: "")])
    }

    /// The tables that are captured are defined anew when the schema changes.
    @Test("Columns are attached after the schema changed")
    func attachingAfterSchemaChange() async throws {
        let reported = try await Reported()
        try await reported.ask(for: ["a", "c"])
        try await reported.engine.commit("ALTER TABLE t DROP COLUMN c; ALTER TABLE t ADD COLUMN d DEFAULT 4")
        #expect(
            try await reported.attached(by: "UPDATE t SET b = 8 WHERE id = 2") == [
                Attached(event: 0, column: "a", value: "two")
            ])
        try await reported.ask(for: ["d"])
        #expect(
            try await reported.attached(by: "UPDATE t SET b = 9 WHERE id = 2") == [
                Attached(event: 0, column: "d", value: 4)
            ])
    }

    /// However much is asked for, commits go through, and the next one is attached to again.
    @Test("Attaching is bounded")
    func attachingIsBounded() async throws {
        let reported = try await Reported()
        try await reported.ask(for: ["a", "c"])
        try await reported.engine.commit(
            "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 1009) INSERT INTO t(id, a) SELECT x, 'v' FROM n"
        )
        let many = try await reported.attached(by: "UPDATE t SET b = 1 WHERE id >= 10")
        #expect(many.count == 256)
        #expect(many.last?.event == 127)
        try await reported.engine.commit("UPDATE t SET a = printf('%.*c', 70000, 'x') WHERE id = 1")
        #expect(
            try await reported.attached(by: "UPDATE t SET b = 3 WHERE id = 1; UPDATE t SET b = 3 WHERE id = 2").isEmpty)
        #expect(try await reported.attached(by: "UPDATE t SET b = 4 WHERE id = 2").count == 2)
    }

    @Test("Attached values aren't part of the commit")
    func attachedValuesAreNotLogged() async throws {
        let reported = try await Reported()
        try await reported.ask(for: ["a"])
        try await reported.engine.commit("UPDATE t SET a = printf('%.*c', 1000, 'x')")
        let bytes = Mutex(0)
        _ = try await reported.engine.commit(CommitMetadata()) { writer, db in
            try db.execute(sql: "UPDATE t SET c = 'twelve bytes'")
            #expect(writer.attached.values.count == 3)
            bytes.withLock { $0 = writer.pendingBytes }
        }
        // The old blob and the new texts.
        #expect(bytes.withLock { $0 } == 1 + 3 * 12)
    }
}
