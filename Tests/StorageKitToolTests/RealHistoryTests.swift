import Foundation
import TestSupport
import Testing

/// Histories that happened, not made up for a test: `export` of an `import` gives the same operations back, and what is said of
/// their past is what a plain fold of them gives.
@Suite(.serialized) struct RealHistoryTests {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// This repository's own git history, as the quickstart imports it.
    @Test(
        "This repository's own history round-trips",
        .enabled(if: FileManager.default.fileExists(atPath: package.appendingPathComponent(".git").path)))
    func ownHistoryRoundTrips() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("history.jsonl")
        // Every day, the last commits.
        let part = testScale > 1 ? "" : "-n 400"
        let made = try ToolProcess.shell(
            "cd '\(Self.package.path)' && Tools/support/git-history \(part) > '\(file)'", store: nil)
        try #require(made.status == 0, "\(made.errors)")
        try expectRoundTrip(file, points: 4)
    }

    /// Any other histories: `STORAGEKIT_HISTORIES` names a folder of `.jsonl` and `.jsonl.zst` files.
    @Test("A history from outside round-trips", arguments: histories)
    func foreignHistoryRoundTrips(file: String) throws { try expectRoundTrip(file, points: 20) }

    private static let histories: [String] = {
        guard let folder = ProcessInfo.processInfo.environment["STORAGEKIT_HISTORIES"] else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.zst") }.sorted().map { "\(folder)/\($0)" }
    }()

    /// A difference that is planted in two versions of a projection is found at its very event.
    @Test("A planted difference is found", arguments: histories)
    func plantedDifference(file: String) throws {
        let known = [("ca-fires", "incidents", "AcresBurned"), ("hn-domain", "posts", "numComments")]
        guard let (_, table, column) = known.first(where: { file.contains($0.0) }) else { return }
        let folder = try TemporaryFolder()
        let store = folder.path()
        try #require(try ToolProcess.run(["import", file], store: store).status == 0)
        let old = folder.path("old.sql")
        let rules = """
            CREATE TABLE latest(id TEXT PRIMARY KEY, value, changes INTEGER NOT NULL DEFAULT 0);
            -- on insert, update of \(table)
            INSERT INTO latest(id, value) VALUES (:new_id, :new_\(column))
              ON CONFLICT DO UPDATE SET value = excluded.value, changes = changes + 1;
            -- on delete of \(table)
            DELETE FROM latest WHERE id = :old_id;
            """
        try Data(rules.utf8).write(to: URL(fileURLWithPath: old))
        #expect(try ToolProcess.run(["compare-replay", "--old", old, "--new", old], store: store).status == 0)
        for start in [0, 1_234, 4_000] {
            let next = try ToolProcess.shell(
                "storagekit tail --from @\(start) --table \(table) --op i,u --format jsonl | head -1", store: store)
            let text = next.output.split(separator: #""position":"#).last?.prefix { $0.isNumber } ?? ""
            let position = try #require(Int64(text))
            let new = folder.path("new.sql")
            let planted = rules.replacingOccurrences(
                of: ":new_\(column))", with: "ifnull(:new_\(column), 0) + (:position = \(position)))")
            // NULL isn't 0, so both versions take it for that.
            let base = rules.replacingOccurrences(of: ":new_\(column))", with: "ifnull(:new_\(column), 0))")
            try Data(planted.utf8).write(to: URL(fileURLWithPath: new))
            try Data(base.utf8).write(to: URL(fileURLWithPath: old))
            let compared = try ToolProcess.run(
                ["compare-replay", "--old", old, "--new", new, "--format", "jsonl"], store: store)
            #expect(compared.status == 1, "\(compared.errors)")
            #expect(
                compared.output.contains(#""divergence":{"position":\#(position),"#), "\(file): \(compared.output)")
        }
    }

    private func expectRoundTrip(_ file: String, points: Int) throws {
        let folder = try TemporaryFolder()
        let store = folder.path()
        let imported = try ToolProcess.run(["import", file], store: store)
        try #require(imported.status == 0, "\(imported.errors)")
        let exported = folder.path("again.jsonl")
        let export = try ToolProcess.shell("storagekit export > '\(exported)'", store: store)
        #expect(export.status == 0, "\(export.errors)")
        let verified = try ToolProcess.run(["verify"], store: store)
        #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
        // Python compares: its JSON reports 1 from 1.0 and true from 1, and it shares no code with what it judges.
        let compared = try ToolProcess.shell(
            "python3 '\(Self.package.path)/Tests/StorageKitToolTests/Support/compare-histories' '\(file)' '\(exported)'",
            store: nil)
        #expect(compared.status == 0, "\(compared.output)\(compared.errors)")
        let findings = try JSONDecoder().decode([String: Int].self, from: Data(compared.output.utf8))
        #expect(findings["compared"] ?? 0 > 0)
        let unchanged = findings["unchanged"] ?? 0
        let claim = "changed nothing and left no event"
        #expect(imported.output.contains(unchanged == 0 ? "took" : claim), "\(imported.output)")
        #expect(unchanged > 0 || !imported.output.contains(claim))
        try expectToldAsItWas(exported, points: points, store)
    }

    /// Past states, differences, blame, bisection, reverting and undoing.
    private func expectToldAsItWas(_ file: String, points: Int, _ store: String) throws {
        let script = "\(Self.package.path)/Tests/StorageKitToolTests/Support/check-history"
        // $0 is the tool.
        let checked = try ToolProcess.shell("python3 '\(script)' \"$0\" '\(store)' '\(file)' 1 \(points)", store: nil)
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        let counts = try JSONDecoder().decode([String: Int].self, from: Data(checked.output.utf8))
        for what in ["points", "blamed", "differences", "bisected", "taken back"] {
            #expect(counts[what] ?? 0 > 0, "\(counts)")
        }
    }
}
