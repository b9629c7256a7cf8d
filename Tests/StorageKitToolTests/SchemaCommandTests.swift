import Foundation
import StorageEntities
import StorageKit
import StorageLog
import StorageProjections
import TestSupport
import Testing

/// `storagekit schema`, `schema log` and `schema diff` on a store that has gone through every kind of change.
@Suite struct SchemaCommandTests {
    enum V1 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var mail: String
            var age: String
            var fax: String?
        }
        @StorageEntity(table: "letters") struct Letter {
            var id: Int
            var text: String
        }
        @StorageEntity(table: "drafts") struct Draft { var id: Int }
    }
    enum V2 {
        @StorageEntity(table: "people") struct Person {
            var id: String
            var email: String
            var age: Int
            var city: String = "Rome"
        }
        @StorageEntity(table: "mails") struct Mail {
            var id: Int
            var text: String
        }
    }

    /// Counts nothing; there to be shown.
    private struct Counts: Projection {
        let name = "mail_counts"
        let version = 2
        let entities = ["mails"]
        func prepare(_ db: Database) throws { try db.execute(sql: "CREATE TABLE mail_counts(id INTEGER PRIMARY KEY)") }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws {}
    }

    private static func makeStore() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        func open(_ hours: Int64, _ declare: (inout Schema) -> Void) throws -> Storage {
            var configuration = StorageConfig()
            configuration.clock = StillClock(microseconds: SampleStore.start + hours * 3_600_000_000)
            return try StorageKit.start(
                at: URL(fileURLWithPath: folder.path()), config: configuration, declare
            ).facade
        }
        let first = try open(0) { $0.autoSchema(V1.PersonRecord.self, V1.LetterRecord.self, V1.DraftRecord.self) }
        try await first.save(V1.Person(id: "a", mail: "a@x", age: "41", fax: "1"))
        try await first.tag("first")
        try await first.close()
        let second = try open(5) { schema in
            schema.renameColumn("mail", to: "email", in: "people")
            schema.convertColumn("age", of: "people", to: Int.self) { old in
                guard case .text(let text) = old, let age = Int64(text) else { return 0 }
                return .integer(age)
            }
            schema.dropColumn("fax", from: "people")
            schema.renameEntity("letters", to: "mails")
            schema.dropEntity("drafts")
            schema.autoSchema(V2.PersonRecord.self, V2.MailRecord.self)
            schema.migration("indexes") { try $0.execute(sql: "CREATE INDEX mails_text ON mails(text)") }
            schema.addFullTextSearch(table: "mails", columns: ["text"])
            schema.addProjection(Counts(), mode: .inline)
        }
        try await second.write(actor: "anna", reason: "seats") { tx in
            try tx.execute("ALTER TABLE people ADD COLUMN \"a.b c\" REAL NOT NULL DEFAULT 1.5")
        }
        try await second.close()
        return folder
    }

    private static let shared = Task { try await makeStore() }

    private typealias Case = GoldenOutputTests.Case

    private static let cases: [Case] = [
        Case("schema", "schema"), Case("schema-json", "schema", "--format", "json"),
        Case("schema-jsonl", "schema", "--format", "jsonl"),
        Case("schema-color", "schema", "mails", "--color", "always"),
        Case("schema-table", "schema", "mails"), Case("schema-tables", "schema", "tables", "people", "mails"),
        Case("schema-at", "schema", "--at", "tag:first"),
        Case("schema-at-jsonl", "schema", "people", "--at", "tag:first", "--format", "jsonl"),
        Case("schema-at-beginning", "schema", "--at", "@0"), Case("schema-at-missing", "schema", "--at", "t:99"),
        Case("schema-unknown", "schema", "mail"), Case("schema-dropped", "schema", "drafts"),
        Case("schema-not-yet", "schema", "mails", "--at", "tag:first"), Case("schema-csv", "schema", "--format", "csv"),
        Case("schema-log", "schema", "log"), Case("schema-log-jsonl", "schema", "log", "--format", "jsonl"),
        Case("schema-log-json", "schema", "log", "-n", "1", "--format", "json"),
        Case("schema-log-reverse", "schema", "log", "--reverse", "-n", "2"),
        Case("schema-log-table", "schema", "log", "people"), Case("schema-log-former-name", "schema", "log", "letters"),
        Case("schema-log-dropped", "schema", "log", "drafts"), Case("schema-log-unknown", "schema", "log", "letter"),
        Case("schema-log-since", "schema", "log", "--since", "tag:first"),
        Case("schema-log-until", "schema", "log", "--until", "tag:first"),
        Case("schema-log-nothing", "schema", "log", "drafts", "--since", "head~1"),
        Case("schema-log-bad-limit", "schema", "log", "-n", "0"),
        Case("schema-diff", "schema", "diff", "tag:first"),
        Case("schema-diff-back", "schema", "diff", "head", "tag:first"),
        Case("schema-diff-beginning", "schema", "diff", "@0", "tag:first"),
        Case("schema-diff-jsonl", "schema", "diff", "tag:first", "head", "--format", "jsonl"),
        Case("schema-diff-same", "schema", "diff", "head", "--exit-code"),
        Case("schema-diff-exit-code", "schema", "diff", "tag:first", "--exit-code", "--format", "json"),
        Case("schema-diff-no-point", "schema", "diff"), Case("schema-diff-missing", "schema", "diff", "t:99"),
    ]

    @Test("Schema commands", arguments: cases)
    private func schemaOutput(_ golden: Case) async throws {
        try GoldenOutputTests.check(golden, store: try await Self.shared.value.path())
    }

    @Test("An empty store has no schema")
    func emptyStore() async throws {
        let folder = try TemporaryFolder()
        try await StorageKit.start(at: URL(fileURLWithPath: folder.path())).facade.close()
        try GoldenOutputTests.check(Case("schema-empty", "schema"), store: folder.path())
        try GoldenOutputTests.check(Case("schema-log-empty", "schema", "log"), store: folder.path())
    }
}
