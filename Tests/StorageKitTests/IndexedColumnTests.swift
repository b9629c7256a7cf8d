import Foundation
import GRDB
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Columns that an index uses are converted and dropped like others.
@Suite struct IndexedColumnTests: SchemaVersionSuite {
    enum V1 {
        @StorageEntity(table: "parts") struct Part: Equatable { var id: Int; var a: String; var b: String }
    }
    enum Converted {
        @StorageEntity(table: "parts") struct Part: Equatable { var id: Int; var a: Int; var b: String }
    }
    enum Dropped {
        @StorageEntity(table: "parts") struct Part: Equatable { var id: Int; var b: String }
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fill(_ statements: String...) async throws {
        let storage = try open { schema in
            schema.autoSchema(V1.PartRecord.self)
            schema.migration("indexes") { db in for sql in statements { try db.execute(sql: sql) } }
        }
        try await storage.save([V1.Part(id: 1, a: "1", b: "x"), V1.Part(id: 2, a: "2", b: "y")])
        try await storage.close()
    }

    private func indexes(_ storage: Storage) async throws -> [String] {
        let sql = """
            SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'parts' AND sql NOTNULL ORDER BY name
            """
        return try await storage.read { try String.fetchAll($0, sql: sql) }
    }

    private func convert(_ schema: inout Schema, _ value: @escaping @Sendable (StorageValue) -> StorageValue) {
        schema.retire("indexes")
        schema.convertColumn("a", of: "parts", to: Int.self, value)
        schema.autoSchema(Converted.PartRecord.self)
    }

    @Test("A converted column keeps its indexes")
    func conversion() async throws {
        let statements = [
            "CREATE INDEX parts_a ON parts(a)", "CREATE INDEX parts_b ON parts(b) WHERE A > 0",
            "CREATE INDEX parts_c ON parts(lower(a), b)", "CREATE UNIQUE INDEX parts_d ON parts(b, \"a\")",
            "CREATE INDEX parts_e ON parts(b)",
        ]
        try await fill(statements[0], statements[1], statements[2], statements[3], statements[4])
        let storage = try open { convert(&$0) { .integer($0 == "1" ? 10 : 20) } }
        #expect(try await storage.all(Converted.Part.self).map(\.a) == [10, 20])
        #expect(try await indexes(storage) == statements)
        let plan = try await storage.query(Converted.Part.self).where { $0.a == 10 }.explain().plan
        #expect(plan.contains { $0.contains("parts_a") })
        try await storage.rebuild()
        #expect(try await indexes(storage) == statements)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("Values that become equal under a unique index are refused")
    func conversionToEqualValues() async throws {
        try await fill("CREATE UNIQUE INDEX parts_a ON parts(a)")
        #expect(throws: StorageError.self) { try open { convert(&$0) { _ in 7 } } }
        let storage = try open {
            $0.retire("indexes")
            $0.autoSchema(V1.PartRecord.self)
        }
        #expect(try await storage.all(V1.Part.self).map(\.a) == ["1", "2"])
        #expect(try await indexes(storage).count == 1)
        try await storage.close()
    }

    @Test("Dropping a column drops the indexes on it alone")
    func drop() async throws {
        try await fill("CREATE INDEX parts_a ON parts(a) WHERE a > ''", "CREATE INDEX parts_b ON parts(b)")
        let storage = try open {
            $0.retire("indexes")
            $0.dropColumn("a", from: "parts")
            $0.autoSchema(Dropped.PartRecord.self)
        }
        #expect(try await storage.all(Dropped.Part.self).map(\.b) == ["x", "y"])
        #expect(try await indexes(storage) == ["CREATE INDEX parts_b ON parts(b)"])
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A temporary index of the same name isn't mistaken for the table's")
    func temporaryIndex() async throws {
        try await fill("CREATE INDEX parts_a ON parts(a)", "CREATE INDEX parts_b ON parts(b)")
        let storage = try open {
            $0.retire("indexes")
            $0.migration("draft") { db in
                try db.execute(
                    sql: """
                        CREATE TEMP TABLE draft(x, y); CREATE INDEX temp.parts_a ON draft(y);
                        CREATE INDEX temp.parts_b ON draft(x)
                        """)
            }
            $0.dropColumn("a", from: "parts")
            $0.autoSchema(Dropped.PartRecord.self)
        }
        #expect(try await storage.all(Dropped.Part.self).map(\.b) == ["x", "y"])
        #expect(try await indexes(storage) == ["CREATE INDEX parts_b ON parts(b)"])
        try await storage.close()
    }

    @Test(
        "Dropping a column that an index, trigger or view uses is refused, and names that object",
        arguments: [
            ("CREATE INDEX parts_ba ON parts(b, a)", "index parts_ba"),
            ("CREATE TRIGGER parts_t AFTER UPDATE ON parts BEGIN SELECT new.a; END", "trigger parts_t"),
            ("CREATE VIEW parts_v AS SELECT a FROM parts", "view parts_v"),
        ])
    func dropOfUsedColumn(statement: String, name: String) async throws {
        try await fill(statement)
        let error = refusal {
            $0.retire("indexes")
            $0.dropColumn("a", from: "parts")
            $0.autoSchema(Dropped.PartRecord.self)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains(name) == true)
        #expect(error?.remedy.contains("in a migration") == true)
    }

    /// There is no index, trigger or view to drop.
    @Test(
        "Dropping a column that the table's own constraint uses is refused, with the advice to recreate the table",
        arguments: [
            "a TEXT NOT NULL UNIQUE, b TEXT NOT NULL", "a TEXT NOT NULL, b TEXT NOT NULL, UNIQUE(a, b)",
            "a TEXT NOT NULL, b TEXT NOT NULL, CHECK(a <> b)",
        ])
    func dropOfConstrainedColumn(columns: String) throws {
        let error = refusal {
            $0.migration("parts") { db in
                try db.execute(
                    sql: "CREATE TABLE parts(id INTEGER PRIMARY KEY, updatedAt DATETIME NOT NULL, \(columns))")
            }
            $0.adopt("parts")
            $0.dropColumn("a", from: "parts")
            $0.autoSchema(Dropped.PartRecord.self)
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("\"parts\".\"a\" is used by the table's own definition") == true)
        #expect(error?.remedy.contains("recreates the table") == true)
    }
}
