import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import StorageKitTool

/// Nothing that a command can answer goes without a recorded answer.
@Suite struct GoldenCoverageTests {
    /// A recorded answer, by the words that were asked.
    private struct Record {
        let words: [String]
        let status: Int
        let isOfTerminal: Bool

        /// nil for files that hold no answer of the tool alone.
        init?(_ file: URL) throws {
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            guard let first = text.split(separator: "\n").first, let start = first.range(of: "storagekit "),
                let status = text.range(of: "--- status ", options: .backwards)
            else { return nil }
            words = first[start.upperBound...].split(separator: " ").map(String.init)
            self.status = Int(text[status.upperBound...].prefix { $0.isNumber }) ?? -1
            isOfTerminal = file.lastPathComponent.hasPrefix("terminal-")
        }

        var format: String {
            guard let option = words.firstIndex(of: "--format"), option + 1 < words.count else { return "human" }
            return words[option + 1]
        }

        /// Whether the command did what it was asked, whatever it found.
        var isAnswer: Bool { [0, 1, 7, 8].contains(status) }
    }

    private static let records: [Record] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "txt" }.compactMap { try? Record($0) }
    }()

    /// The commands that write in formats, each with words that make it run.
    static let commands: [[String]] = [
        ["adopt", "chinook.sqlite", "-s", "new.sqlite"], ["log"], ["show", "t:3"], ["history", "posts/a/1"],
        ["diff", "t:2"], ["blame", "posts/b"], ["grep", "Hello"], ["bisect", "SELECT count(*) > 1 FROM posts"],
        ["at", "t:2"], ["sql", "SELECT 1"], ["explain", "SELECT 1"], ["tail"], ["watch", "posts", "--for", "0"],
        ["replay"],
        ["compare-replay", "--old", "old.sql", "--new", "old.sql"], ["tag"], ["note"], ["revert", "t:4", "--dry-run"],
        ["exec", "DELETE FROM users", "--dry-run"], ["undo", "--dry-run"], ["redo", "--dry-run"],
        ["restore-state", "t:3", "--dry-run"], ["backup", "b.sqlite"],
        ["restore", "store.sqlite", "--to", "t:3", "-o", "r.sqlite"], ["schema"], ["schema", "log"],
        ["schema", "diff", "t:1"], ["stats"], ["verify"], ["doctor"], ["rebuild"], ["record"], ["guard", "status"],
        ["projections"],
        ["projections", "dead-letters"], ["sources"], ["outbox"], ["tokens"],
    ]
    /// Those that write for people or for programs alone; what programs read is compared by other tests.
    private static let others = [
        "import", "export", "metrics", "completions", "complete", "manual", "serve", "ui", "mcp",
    ]

    @Test("Every command is covered")
    func everyCommandIsThere() {
        let known = Set(Self.commands.map { $0[0] } + Self.others)
        let all = StorageKitTool.configuration.subcommands.compactMap { $0.configuration.commandName }
        #expect(known == Set(all))
    }

    /// The words that name the command, without what it is asked.
    private static func name(_ words: [String]) -> [String] {
        commands.contains { $0.count > 1 && $0[..<2] == words.prefix(2) && ["schema", "projections"].contains($0[0]) }
            ? Array(words.prefix(2)) : Array(words.prefix(1))
    }

    @Test("Every format is recorded or refused", arguments: commands)
    func everyFormat(_ words: [String]) async throws {
        let name = Self.name(words)
        let records = Self.records.filter { Self.name($0.words) == name && $0.isAnswer }
        #expect(records.contains { $0.isOfTerminal }, "\(name) has no record of a terminal")
        let formats = OutputFormat.allCases.map(\.rawValue) + (words[0] == "diff" ? ["sql"] : [])
        let missing = formats.filter { format in !records.contains { $0.format == format && !$0.isOfTerminal } }
        guard !missing.isEmpty else { return }
        let sample = try await SampleStore()
        for format in missing {
            let outcome = try ToolProcess.run(words + ["--format", format], store: sample.path, in: sample.folder.url)
            #expect(
                outcome.status == 2,
                "\(name) as \(format) has no record, and ends with \(outcome.status)")
            #expect(
                outcome.errors.contains(format),
                "\(name) as \(format) has no record, and ends with \(outcome.status)")
        }
    }

    @Test("Imports are recorded")
    func importsAreRecorded() {
        let imports = Self.records.filter { $0.words.first == "import" && $0.isAnswer }
        #expect(imports.contains { $0.isOfTerminal })
        #expect(imports.contains { !$0.isOfTerminal })
    }
}
