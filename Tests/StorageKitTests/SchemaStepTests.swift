import Foundation
import GRDB
import StorageEntities
import StorageHistory
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Declared changes fit every store of an earlier version, with the rows and the history that it has.
@Suite struct SchemaStepTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = URL(fileURLWithPath: folder.path("a.sqlite"))
    }

    private func open(_ declare: (inout Schema) -> Void) throws -> Storage {
        try StorageKit.start(at: url, declare).facade
    }

    private func refusal(_ declare: @escaping (inout Schema) -> Void) -> StorageError? {
        let error = #expect(throws: StorageError.self) { try open(declare) }
        return error
    }

    // MARK: Skipped versions

    enum Plain {
        @StorageEntity(table: "users") struct User { var id: String }
    }
    enum Skipping {
        @StorageEntity(table: "users") struct User {
            var id: String
            var email: String
            var age: Int
        }
        @StorageEntity(table: "pages") struct Page { var id: String }
    }

    private func fillPlain() async throws {
        let first = try open { $0.autoSchema(Plain.UserRecord.self) }
        try await first.save(Plain.User(id: "a"))
        try await first.close()
    }

    @Test("A store that skips the versions that added and changed a column opens")
    func skippedVersions() async throws {
        try await fillPlain()
        func declare(_ schema: inout Schema) {
            schema.renameColumn("mail", to: "address", in: "users")
            schema.renameColumn("address", to: "email", in: "users")
            schema.convertColumn("age", of: "users", to: Int.self) { _ in 1 }
            schema.renameColumn("fax", to: "phone", in: "users")
            schema.dropColumn("phone", from: "users")
            schema.renameEntity("notes", to: "pages")
            schema.autoSchema(Skipping.UserRecord.self, Skipping.PageRecord.self)
        }
        let storage = try open(declare)
        #expect(try await storage.all(Skipping.User.self) == [Skipping.User(id: "a", email: "", age: 0)])
        #expect(try await storage.count(Skipping.Page.self) == 0)
        #expect(try await storage.verify().isSound)
        try await storage.close()
        #expect(try StorageKit.plan(at: url) { declare(&$0) }.isEmpty)
    }

    @Test("A change of a column that no step adds is refused")
    func misspeltColumns() async throws {
        try await fillPlain()
        let renamed = refusal {
            $0.renameColumn("mial", to: "email", in: "users")
            $0.autoSchema(Plain.UserRecord.self)
        }
        #expect(renamed?.code == .schemaMismatch)
        #expect(renamed?.message.contains("\"mial\"") ?? false)
        let converted = refusal { $0.convertColumn("aeg", of: "users", to: Int.self) { _ in 1 } }
        #expect(converted?.code == .schemaMismatch)
        #expect(converted?.message.contains("\"aeg\"") ?? false)
        // Nothing was recorded as done.
        try await open { $0.autoSchema(Plain.UserRecord.self) }.close()
    }
}
