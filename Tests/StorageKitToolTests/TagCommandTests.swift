import Foundation
import StorageCore
import StorageLog
import TestSupport
import Testing

/// `storagekit tag` and `storagekit note`, and what other commands tell of tags and notes.
@Suite struct TagCommandTests {
    /// The sample with a few tags and notes, always the same to the byte.
    private static func makeStore() async throws -> SampleStore {
        let store = try await SampleStore()
        let engine = try SampleStore.open(store.path)
        let anna = CommitMetadata(actor: "anna", app: "web 3.1", reason: "release")
        _ = try await engine.tag("release-3", at: .commit(4), note: "as shipped", metadata: anna)
        _ = try await engine.tag("before/import", at: .commit(5), metadata: CommitMetadata())
        _ = try await engine.tag("start", at: .position(0), metadata: CommitMetadata(actor: "ben"))
        _ = try await engine.note("called again,\nsee T-5", at: .commit(3), metadata: anna)
        _ = try await engine.note("one event of three", at: .position(22), metadata: CommitMetadata())
        try await engine.close()
        return store
    }

    private static let shared = Task { try await makeStore() }

    private typealias Case = GoldenOutputTests.Case

    private static let readingCases: [Case] = [
        Case("tag-list", "tag"), Case("tag-list-json", "tag", "--format", "json"),
        Case("tag-list-jsonl", "tag", "--format", "jsonl"), Case("tag-list-csv", "tag", "--format", "csv"),
        Case("tag-list-color", "tag", "--color", "always"),
        Case("note-list", "note"), Case("note-list-jsonl", "note", "--format", "jsonl"),
        Case("note-one", "note", "t:3"), Case("note-one-none", "note", "t:2"),
        Case("tag-log", "log"), Case("tag-log-oneline", "log", "--oneline"),
        Case("tag-log-jsonl", "log", "--format", "jsonl"),
        Case("tag-log-schema", "log", "--schema", "--oneline", "-n", "5"),
        Case("tag-show", "show", "tag:release-3"), Case("tag-show-json", "show", "tag:release-3", "--format", "json"),
        Case("tag-show-event", "show", "@22"), Case("tag-show-event-jsonl", "show", "@22", "--format", "jsonl"),
        Case("tag-show-tagging", "show", "t:10"),
        Case("tag-range", "log", "tag:before/import..", "--oneline"),
        Case("tag-range-before", "log", "tag:release-3~2..tag:release-3", "--oneline"),
        Case("tag-diff", "diff", "tag:release-3", "--stat"), Case("tag-diff-storage", "diff", "@0", "storage_tag"),
        Case("tag-at", "at", "tag:release-3", "SELECT id, title FROM posts ORDER BY id"),
        Case("tag-at-before", "at", "tag:release-3~1", "SELECT id, views FROM posts ORDER BY id"),
        Case("tag-history", "history", "storage_tag/release-3"),
        Case("tag-unknown", "show", "tag:release-4"), Case("tag-unknown-far", "show", "tag:xyz"),
        Case("tag-too-far", "show", "tag:release-3~9"), Case("tag-bad-name", "show", "tag:a b"),
        Case("tag-export", "export"), Case("tag-stats-json", "stats", "--format", "json"),
        Case("tag-sql", "sql", "SELECT * FROM history_storage_tag"), Case("tag-verify", "verify"),
        Case("tag-list-note", "tag", "--note", "x"), Case("note-delete-nothing", "note", "--delete"),
        Case("note-empty", "note", "t:2", ""),
    ]

    private static let writingCases: [Case] = [
        Case("tag-make", "tag", "v1"), Case("tag-make-point", "tag", "v1", "t:2", "--note", "first", "--reason", "why"),
        Case("tag-make-json", "tag", "v1", "t:2", "--format", "json"),
        Case("tag-make-dry-run", "tag", "v1", "t:2", "--dry-run"),
        Case("tag-make-bad", "tag", "v 1"), Case("tag-make-missing", "tag", "v1", "t:99"),
        Case("tag-taken", "tag", "release-3"), Case("tag-same", "tag", "release-3", "t:4"),
        Case("tag-annotate", "tag", "release-3", "--note", "better", "--yes"),
        Case("tag-annotate-unasked", "tag", "release-3", "--note", "better"),
        Case("tag-move-unconfirmed", "tag", "release-3", "t:5", "--force"),
        Case("tag-move", "tag", "release-3", "t:5", "--force", "--yes"),
        Case("tag-move-dry-run", "tag", "release-3", "t:5", "--force", "--dry-run", "--format", "jsonl"),
        Case("tag-delete", "tag", "release-3", "--delete", "--yes"),
        Case("tag-delete-unconfirmed", "tag", "release-3", "--delete"),
        Case("tag-delete-unknown", "tag", "release-4", "--delete", "--yes"),
        Case("tag-delete-point", "tag", "release-3", "t:4", "--delete"),
        Case("note-make", "note", "t:2", "text"),
        Case("note-change", "note", "t:3", "text", "--yes", "--format", "json"),
        Case("note-dry-run", "note", "t:2", "text", "--dry-run"),
        Case("note-delete", "note", "t:3", "--delete", "--yes"), Case("note-delete-none", "note", "t:2", "--delete"),
        Case("tag-make-head", "tag", "v1", "head", "--note", "no tag or note is tagged"),
        Case("tag-restore-tags", "restore-state", "@0", "storage_tag", "--yes"),
        Case("tag-restore-tag", "restore-state", "@0", "storage_tag/release-3", "--yes"),
        Case("tag-rebuild-tags", "rebuild", "storage_tag"), Case("tag-undo", "undo", "--yes"),
        Case("tag-revert", "revert", "t:8", "--yes"),
        Case("tag-rebuild", "rebuild"), Case("tag-restore", "restore-state", "tag:release-3", "--yes"),
    ]

    @Test("Reading commands", arguments: readingCases)
    private func readingOutput(_ golden: Case) async throws {
        try GoldenOutputTests.check(golden, store: try await Self.shared.value.path)
    }

    @Test("Writing commands", arguments: writingCases)
    private func writingOutput(_ golden: Case) async throws {
        // A store of its own, because only one process may write.
        let store = try SampleStore(copying: try await Self.shared.value)
        try GoldenOutputTests.check(golden, store: store.path)
        #expect(try ToolProcess.run(["verify"], store: store.path).status == 0)
    }

    @Test("A tag names the user who made it")
    func tagOfUser() async throws {
        let store = try await SampleStore()
        let made = try ToolProcess.run(["tag", "v1", "t:2", "--reason", "because"], store: store.path)
        #expect(made.status == 0)
        let line = try ToolProcess.run(["tag", "--format", "jsonl"], store: store.path).output
        #expect(line.contains(#""actor":"\#(NSUserName())","app":"storagekit","reason":"because""#), "\(line)")
        let missing = try ToolProcess.run(["tag", "v1"], store: store.folder.path("nothing.sqlite"))
        #expect(missing.status == 3)
        #expect(!FileManager.default.fileExists(atPath: store.folder.path("nothing.sqlite")))
    }

    /// Tags and notes are of the point, too: those that came later are left out, those that were deleted later are back.
    @Test("A store that is restored to a point has its tags")
    func restoredTags() async throws {
        let store = try SampleStore(copying: try await Self.shared.value)
        let engine = try SampleStore.open(store.path)
        _ = try await engine.removeTag("start", metadata: CommitMetadata())
        _ = try await engine.tag("later", at: .head, metadata: CommitMetadata())
        try await engine.close()
        let expected: [(String, [String])] = [
            ("t:12", ["start", "release-3", "before/import"]), ("t:8", ["release-3"]), ("t:5", []),
        ]
        for (point, names) in expected {
            let path = store.folder.path("restored \(point).sqlite")
            let restored = try ToolProcess.run(["restore", store.path, "--to", point, "-o", path], store: nil)
            #expect(restored.status == 0, "\(restored.errors)")
            let verified = try ToolProcess.run(["verify"], store: path)
            #expect(verified.status == 0, "\(verified.output)")
            let list = try ToolProcess.run(["tag", "--format", "jsonl"], store: path).output.split(separator: "\n")
            #expect(list.count == names.count)
            for (line, name) in zip(list, names) { #expect(line.contains("\"tag\":\"\(name)\"")) }
        }
    }
}
