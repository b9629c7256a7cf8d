import Foundation
import GRDB
import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// One store through ten versions of a program, with data written under each, and everything that was ever true still
/// there at the end.
@Suite struct MigrationStoryTests {
    /// The same table as the ten versions declare it.
    enum V1 { @StorageEntity(table: "notes") struct Note { var id: String; var text: String } }
    enum V2 {
        @StorageEntity(table: "notes") struct Note { var id: String; var text: String; var pinned: Bool }
    }
    enum V3 {
        @StorageEntity(table: "notes") struct Note { var id: String; var body: String; var pinned: Bool }
    }
    enum V4 {
        @StorageEntity(table: "notes") struct Note {
            var id: String
            var body: String
            var pinned: Bool
            var size: String
        }
        @StorageEntity(table: "tags") struct Tag { var id: Int; var note: String; var name: String }
    }
    enum V5 {
        @StorageEntity(table: "notes") struct Note {
            var id: String
            var body: String
            var pinned: Bool
            var size: Int?
        }
    }
    enum V7 {
        @StorageEntity(table: "pages") struct Page {
            var id: String
            var body: String
            var pinned: Bool
            var size: Int?
        }
    }
    enum V8 {
        @StorageEntity(table: "pages") struct Page { var id: String; var body: String; var size: Int? }
    }
    enum V9 {
        @StorageEntity(table: "pages") struct Page {
            var id: String
            var body: String
            var size: Int?
            /// The name that a dropped column had, with another meaning and type.
            var pinned: Date?
        }
    }

    /// What each version declares: all that the versions before it said, and its own.
    private static func declare(_ version: Int, _ schema: inout Schema) {
        if version >= 3 { schema.renameColumn("text", to: "body", in: "notes") }
        if version >= 5 {
            schema.convertColumn("size", of: "notes", to: Int?.self) { old in
                guard case .text(let text) = old, let size = Int64(text) else { return .null }
                return .integer(size)
            }
        }
        if version >= 7 { schema.renameEntity("notes", to: "pages") }
        if version >= 8 { schema.dropColumn("pinned", from: "pages") }
        switch version {
        case 1: schema.autoSchema(V1.NoteRecord.self)
        case 2: schema.autoSchema(V2.NoteRecord.self)
        case 3: schema.autoSchema(V3.NoteRecord.self)
        case 4: schema.autoSchema(V4.NoteRecord.self, V4.TagRecord.self)
        case 5, 6: schema.autoSchema(V5.NoteRecord.self, V4.TagRecord.self)
        case 7: schema.autoSchema(V7.PageRecord.self, V4.TagRecord.self)
        case 8: schema.autoSchema(V8.PageRecord.self, V4.TagRecord.self)
        default: schema.autoSchema(V9.PageRecord.self, V4.TagRecord.self)
        }
        let table = version >= 7 ? "pages" : "notes"
        if version >= 2 {
            schema.addFullTextSearch(table: table, columns: [version >= 3 ? "body" : "text"])
        }
        if version >= 6 {
            // In a store that begins with version 7 the table has its new name already.
            schema.migration("v6 upper case") { db in
                let table = try db.tableExists("notes") ? "notes" : "pages"
                try db.execute(sql: "UPDATE \(table) SET body = upper(body) WHERE body LIKE 'version 4%'")
            }
        }
        if version >= 10 {
            schema.migration("v10 foreign key") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE tags_new (
                          id INTEGER NOT NULL PRIMARY KEY, note TEXT NOT NULL REFERENCES pages(id) ON DELETE CASCADE,
                          name TEXT NOT NULL, updatedAt DATETIME NOT NULL);
                        INSERT INTO tags_new(id, note, name, updatedAt)
                          SELECT id, note, trim(name), updatedAt FROM tags WHERE note IN (SELECT id FROM pages);
                        DROP TABLE tags;
                        ALTER TABLE tags_new RENAME TO tags;
                        """)
            }
        }
    }

    private static let versions = 1...10

    private func write(_ version: Int, _ storage: Storage) async throws {
        let (id, text) = ("note \(version)", "version \(version) wrote this")
        switch version {
        case 1:
            try await storage.save(V1.Note(id: id, text: text))
            try await storage.save(V1.Note(id: "changing", text: "from version 1"))
            try await storage.save(V1.Note(id: "deleted", text: "from version 1"))
        case 2: try await storage.save(V2.Note(id: id, text: text, pinned: true))
        case 3:
            try await storage.save(V3.Note(id: id, body: text, pinned: false))
            try await storage.delete(V3.Note.self, id: "deleted")
        case 4:
            try await storage.save(V4.Note(id: id, body: text, pinned: false, size: "40"))
            try await storage.save(V4.Note(id: "odd", body: "odd size", pinned: false, size: "forty"))
            try await storage.save([
                V4.Tag(id: 1, note: id, name: "four "), V4.Tag(id: 2, note: "nowhere", name: "lost"),
            ])
        case 5, 6: try await storage.save(V5.Note(id: id, body: text, pinned: true, size: version))
        case 7: try await storage.save(V7.Page(id: id, body: text, pinned: true, size: nil))
        case 8: try await storage.save(V8.Page(id: id, body: text, size: 8))
        default:
            try await storage.save(V9.Page(id: id, body: text, size: version, pinned: Date(timeIntervalSince1970: 0)))
        }
        try await storage.write { tx in
            let table = version >= 7 ? "pages" : "notes"
            try tx.execute(
                "UPDATE \(table) SET \(version >= 3 ? "body" : "text") = 'from version \(version)' WHERE id = 'changing'"
            )
        }
    }

    @Test("Ten schema versions lose nothing")
    func tenSchemaVersions() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("story.sqlite"))
        var heads: [Int64] = []
        var states: [[String: [String]]] = []
        for version in Self.versions {
            // Told beforehand, and nothing of it done.
            let plan = try StorageKit.plan(at: url) { Self.declare(version, &$0) }
            #expect(plan.isEmpty == false, "version \(version)")
            let storage = try StorageKit.start(at: url) { Self.declare(version, &$0) }.facade
            try await write(version, storage)
            heads.append(storage.head)
            states.append(try await state(version) { table in try await storage.read { try Self.dump(table, $0) } })
            let report = try await storage.verify()
            #expect(report.isSound, "version \(version): \(report.findings)")
            try await storage.close()
            #expect(try StorageKit.plan(at: url) { Self.declare(version, &$0) }.isEmpty, "version \(version)")
            // An older program doesn't get at a store that went through something it doesn't know.
            if [3, 5, 6, 7, 8, 10].contains(version) {
                let error = #expect(throws: StorageError.self) {
                    try StorageKit.start(at: url) { Self.declare(version - 1, &$0) }
                }
                #expect(error?.code == .newerSchema, "version \(version)")
            }
        }
        let storage = try StorageKit.start(at: url) { Self.declare(10, &$0) }.facade
        for rebuilt in [false, true] {
            if rebuilt { try await storage.rebuild() }
            try await checkEnd(storage)
            try await checkHistory(storage, heads)
            for (version, head) in zip(Self.versions, heads) {
                let past = try await storage.asOf(.position(head), schema: .asRecorded)
                let then = try await state(version) { table in
                    try await past.read([table]) { try Self.dump(table, $0) }
                }
                #expect(then == states[version - 1], "version \(version)")
            }
            let first = try await storage.asOf(.position(heads[0]), schema: .asRecorded)
            #expect(try await first.get(V1.Note.self, id: "deleted") == V1.Note(id: "deleted", text: "from version 1"))
            #expect(try await first.all(V1.Note.self, orderBy: "text").count == 3)
            await #expect(throws: StorageError.self) { try await first.count(V9.Page.self) }
            let report = try await storage.verify()
            #expect(report.isSound, "\(report.findings)")
        }
        try await storage.close()
    }

    private func state(
        _ version: Int, _ read: (String) async throws -> [String]
    ) async throws -> [String: [String]] {
        let page = version >= 7 ? "pages" : "notes"
        var state = [page: try await read(page)]
        if version >= 4 { state["tags"] = try await read("tags") }
        return state
    }

    /// Every row of a table with its column names, whatever order the columns have.
    private static func dump(_ table: String, _ db: Database) throws -> [String] {
        try GRDB.Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY id").map { row in
            row.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        }
    }

    private func checkEnd(_ storage: Storage) async throws {
        let pages = try await storage.all(V9.Page.self)
        #expect(pages.count == 12)
        let texts = Dictionary(uniqueKeysWithValues: pages.map { ($0.id, $0.body) })
        #expect(texts["note 1"] == "version 1 wrote this")
        #expect(texts["note 4"] == "VERSION 4 WROTE THIS")
        #expect(texts["changing"] == "from version 10")
        let sizes = Dictionary(uniqueKeysWithValues: pages.map { ($0.id, $0.size) })
        #expect(sizes["note 4"] == 40)
        #expect(sizes["odd"] == .some(nil))
        #expect(sizes["note 8"] == 8)
        #expect(pages.filter { $0.pinned != nil }.map(\.id).sorted() == ["note 10", "note 9"])
        #expect(try await storage.all(V4.Tag.self) == [V4.Tag(id: 1, note: "note 4", name: "four")])
        #expect(try await storage.search(V9.Page.self, query: "wrote", limit: 100).count == 10)
        #expect(try await storage.search(V9.Page.self, query: "\"version 10\"").count == 2)
    }

    private func checkHistory(_ storage: Storage, _ heads: [Int64]) async throws {
        let changing = try await storage.history(V9.Page.self, id: "changing")
        let said = changing.compactMap { $0.new?.first { $0.column == "body" }?.value }
        #expect(said == [.text("from version 1")] + Self.versions.map { .text("from version \($0)") }.dropFirst())
        // Each version's last change lies before its head.
        for (version, head) in zip(Self.versions, heads).dropFirst() {
            let event = changing.last { $0.position <= head }
            #expect(event?.new?.first { $0.column == "body" }?.value == .text("from version \(version)"))
        }
        let deleted = try await storage.history(V9.Page.self, id: "deleted")
        #expect(deleted.map(\.operation).first == .insert)
        #expect(deleted.map(\.operation).last == .delete)
        let note4 = try await storage.history(V9.Page.self, id: "note 4")
        #expect(note4.first?.new?.contains { $0.value == "40" } ?? false)
        #expect(note4.contains { $0.commit.metadata.reason == "migration v6 upper case" })
        let lost = try await storage.history(V4.Tag.self, id: 2)
        #expect(lost.map(\.operation) == [.insert, .delete])
    }
}
