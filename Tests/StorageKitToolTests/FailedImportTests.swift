import Foundation
import StorageKit
import TestSupport
import Testing

/// What is left of an import that fails.
struct FailedImportTests {
    private static let first = #"{"tx":1,"op":"insert","table":"t","id":"a","row":{"n":1}}"#
    private static let second = #"{"tx":2,"op":"insert","table":"t","id":"b","row":{"n":2}}"#
    /// There is no such row.
    private static let bad = #"{"tx":3,"op":"delete","table":"t","id":"c"}"#

    private func files(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test(
        "It leaves no store that it has created",
        arguments: [
            [#"{"tx":1,"#], ["n,title", "1,Hello"], [bad], [first, #"{"tx":1,"#],
        ])
    func createdStore(lines: [String]) throws {
        let folder = try TemporaryFolder()
        let outcome = try ToolProcess.run(["import", try folder.write(lines, "in.jsonl")], store: folder.path())
        #expect(outcome.status == 7, "\(outcome)")
        #expect(!outcome.errors.contains("Stored before"), "\(outcome.errors)")
        #expect(try files(in: folder) == ["in.jsonl"])
    }

    @Test("It leaves a store that was there, also an empty one")
    func earlierStore() throws {
        let folder = try TemporaryFolder()
        #expect(try ToolProcess.run(["import", try folder.write([], "none.jsonl")], store: folder.path()).status == 0)
        let outcome = try ToolProcess.run(["import", try folder.write([Self.bad])], store: folder.path())
        #expect(outcome.status == 7, "\(outcome)")
        let verified = try ToolProcess.run(["verify"], store: folder.path())
        #expect(verified.status == 0, "\(verified)")
    }

    /// An empty file becomes a store, but another program has created it.
    @Test("It leaves a file that was there")
    func earlierFile() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder.path()))
        #expect(try ToolProcess.run(["import", try folder.write([Self.bad])], store: folder.path()).status == 7)
        #expect(FileManager.default.fileExists(atPath: folder.path()))
    }

    @Test("It keeps the commits before the bad line, and says which they are")
    func earlierCommits() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write([Self.first, Self.second, Self.bad])
        let outcome = try ToolProcess.run(["import", file], store: folder.path())
        #expect(outcome.status == 7, "\(outcome)")
        #expect(
            outcome.errors.contains(
                "why: Nothing of the commit that this line belongs to was stored. Stored before: 2 commits, up to line 2.\n"
            ),
            "\(outcome.errors)")
        #expect(try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n").count == 2)
        // A second run stores none that it could report.
        let again = try ToolProcess.run(["import", file], store: folder.path())
        #expect(again.status == 7, "\(again)")
        #expect(!again.errors.contains("Stored before"), "\(again.errors)")
        let corrected = try folder.write([Self.first, Self.second, Self.bad.replacing(#""c""#, with: #""b""#)])
        let resumed = try ToolProcess.run(["import", corrected], store: folder.path())
        #expect(resumed.status == 0, "\(resumed)")
        #expect(resumed.output.contains("resumed after line 2"), "\(resumed)")
    }

    /// No line is bad, but the file ends too early. The second commit may go on there.
    @Test("It says how far it came in a damaged file", arguments: [[], ["--skip-invalid"]])
    func damagedFile(options: [String]) throws {
        let folder = try TemporaryFolder()
        let file = try folder.writeCutOff([Self.first, Self.second])
        let outcome = try ToolProcess.run(["import", file] + options, store: folder.path())
        #expect(outcome.status == 5, "\(outcome)")
        #expect(outcome.errors.contains("cut off. Stored before: 1 commit, up to line 1.\n"), "\(outcome.errors)")
        #expect(try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n").count == 1)
    }

    @Test("It keeps the commits before a bad one that the end of a damaged file cuts off")
    func damagedBadCommit() throws {
        let folder = try TemporaryFolder()
        let file = try folder.writeCutOff([Self.first, Self.bad])
        let outcome = try ToolProcess.run(["import", "--skip-invalid", file], store: folder.path())
        #expect(outcome.status == 5, "\(outcome)")
        #expect(outcome.errors.contains("cut off. Stored before: 1 commit, up to line 1.\n"), "\(outcome.errors)")
        // The rest of the bad commit isn't another one.
        let rest = #"{"tx":3,"op":"insert","table":"t","id":"d","row":{"n":4}}"#
        let whole = try folder.write([Self.first, Self.bad, rest])
        let resumed = try ToolProcess.run(["import", "--skip-invalid", whole], store: folder.path())
        #expect(resumed.status == 8, "\(resumed)")
        #expect(try ToolProcess.run(["export"], store: folder.path()).output.split(separator: "\n").count == 1)
    }
}

extension TemporaryFolder {
    fileprivate func write(_ lines: [String], _ name: String = "in.jsonl") throws -> String {
        try lines.map { $0 + "\n" }.joined().write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    /// Writes lines to a compressed file that ends inside what follows them.
    fileprivate func writeCutOff(_ lines: [String]) throws -> String {
        let whole = compressed(Array(lines.map { $0 + "\n" }.joined().utf8))
        let cut = compressed(Array("another line\n".utf8)).prefix(10)
        try Data(whole + cut).write(to: URL(fileURLWithPath: path("in.jsonl.zst")))
        return path("in.jsonl.zst")
    }
}
