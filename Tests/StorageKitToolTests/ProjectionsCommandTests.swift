import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageKit
import StorageLog
import StorageProjections
import TestSupport
import Testing

/// `storagekit projections`: what it shows of a store with projections, and what it changes for the program to find.
struct ProjectionsCommandTests {
    @StorageEntity(table: "articles")
    struct Article {
        var id: Int
        var title: String
    }

    private func open(_ folder: TemporaryFolder, poison: String = "poison") throws -> Storage {
        var configuration = StorageConfig()
        configuration.clock = StillClock(microseconds: SampleStore.start)
        return try StorageKit.start(at: URL(fileURLWithPath: folder.path()), config: configuration) { schema in
            schema.autoSchema(ArticleRecord.self)
            schema.addFullTextSearch(table: "articles", columns: ["title"])
            schema.addProjection(Titles(name: "inline_titles", version: 3, poison: "-"), mode: .inline)
            schema.addProjection(Titles(version: 3, poison: poison), mode: .async)
            schema.addProjection(
                Titles(name: "patient", version: 3, poison: poison), mode: .async, onFailure: .deadLetter)
        }.facade
    }

    @Test("Every state is shown and changed")
    func everyState() async throws {
        let folder = try TemporaryFolder()
        let storage = try open(folder)
        for (id, title) in [(1, "one"), (2, "poison"), (2, "two"), (3, "three")] {
            let receipt = try await storage.save(Article(id: id, title: title))
            try await storage.waitForProjections(through: receipt, of: "patient")
        }
        // The one that pauses fails in its own time.
        await #expect(throws: StorageError.self) {
            try await storage.waitForProjections(
                through: CommitReceipt(commit: nil, first: 0, last: storage.head, time: 0), of: "titles")
        }
        try await storage.close()
        let path = folder.path()
        func check(_ name: String, _ arguments: String...) throws {
            try GoldenOutputTests.check(GoldenOutputTests.Case(name, arguments: arguments), store: path)
        }
        try check("projections", "projections")
        for (name, arguments) in [
            ("terminal-projections", ["projections"]), ("terminal-dead-letters", ["projections", "dead-letters"]),
        ] {
            try TerminalOutputTests.expectLooks(.init(name, arguments: arguments), in: [folder])
        }
        try check("projections-jsonl", "projections", "--format", "jsonl")
        try check("projections-dead-letters", "projections", "dead-letters")
        try check("projections-dead-letters-json", "projections", "dead-letters", "patient", "--format", "json")
        try check("projections-dead-letters-jsonl", "projections", "dead-letters", "--format", "jsonl")
        try check("projections-unknown", "projections", "pause", "title")
        try check("projections-unnamed", "projections", "pause")
        try check("projections-full-text", "projections", "pause", "full-text/32")
        try check("projections-dry-run", "projections", "pause", "inline_titles", "--dry-run")
        try check("projections-dry-run-json", "projections", "reset", "patient", "--dry-run", "--format", "json")
        try check("projections-list-dry-run", "projections", "--dry-run")
        try check("projections-csv", "projections", "--format", "csv")
        try check("projections-pause", "projections", "pause", "inline_titles")
        try check("projections-resume", "projections", "resume", "titles")
        try check("projections-reset", "projections", "reset", "patient")
        try check("projections-verify", "verify")
        // The program finds it so.
        let again = try open(folder, poison: "-")
        try await again.waitForProjections(through: try await again.save(Article(id: 4, title: "four")))
        let titles = try await again.read { db in
            try ["inline_titles", "titles", "patient"].map { try String.fetchAll(db, sql: "SELECT title FROM \($0)") }
        }
        #expect(titles[0] == ["one", "two", "three"])
        #expect(titles[1].count == 4)
        #expect(titles[2].count == 4)
        #expect(try await again.projections.deadLetters().isEmpty)
        try await again.close()
    }
}
