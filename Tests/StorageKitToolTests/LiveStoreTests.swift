import Foundation
import StorageEntities
import StorageKit
import StorageMaintenance
import TestSupport
import Testing

/// The tool beside another process that keeps writing.
@Suite struct LiveStoreTests {
    /// Each export of a store in use is a beginning of the next one: whole commits, nothing missing, nothing twice.
    @Test("Exports and checks of a store in use are whole")
    func exportsOfBusyStore() throws {
        let folder = try TemporaryFolder()
        let store = folder.path()
        let writer = Process()
        writer.executableURL = ToolProcess.program.deletingLastPathComponent().appendingPathComponent("crash-worker")
        writer.arguments = [store, "batch", "w"]
        writer.standardOutput = FileHandle.nullDevice
        writer.environment = ["SWIFT_BACKTRACE": "enable=no"]
        try writer.run()
        defer {
            kill(writer.processIdentifier, SIGKILL)
            writer.waitForEnd()
        }
        var earlier = ""
        var exports = 0
        let end = ContinuousClock.now + .seconds(3_600)
        while exports < 5, ContinuousClock.now < end {
            let export = try ToolProcess.run(["export"], store: store)
            // Before the writer has made the store there is nothing to read.
            guard export.status == 0, !export.output.isEmpty else {
                #expect(earlier.isEmpty, "\(export.errors)")
                continue
            }
            #expect(export.output.hasPrefix(earlier))
            guard export.output.utf8.count > earlier.utf8.count else { continue }
            earlier = export.output
            exports += 1
            for arguments in [["verify"], ["log", "-n", "3"], ["stats"], ["history", "marks/changing", "-n", "2"]] {
                let outcome = try ToolProcess.run(arguments, store: store)
                #expect(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errors)")
            }
        }
        #expect(exports == 5)
        #expect(writer.isRunning)
        kill(writer.processIdentifier, SIGKILL)
        writer.waitForEnd()
        let last = try ToolProcess.run(["export"], store: store).output
        #expect(last.hasPrefix(earlier))
        try expectWholeCommits(last)
    }

    @StorageEntity struct Draft {
        var id: Int
        var text: String
    }

    /// What would be done can be seen while a program has the store open for writing; doing it has to wait.
    @Test("Dry runs are tried on a copy")
    func dryRunsUseACopy() async throws {
        let folder = try TemporaryFolder()
        let storage = try StorageKit.start(at: URL(fileURLWithPath: folder.path())) {
            $0.autoSchema(DraftRecord.self)
        }.facade
        try await storage.save(Draft(id: 1, text: "one"))
        try await storage.save(Draft(id: 1, text: "two"))
        let head = storage.head
        for (arguments, words) in [
            (["undo"], "one"), (["revert", "head"], "one"), (["restore-state", "head~1", "drafts"], "one"),
            (["tag", "release"], "release"), (["note", "head", "a word"], "Note it"),
        ] {
            let tried = try ToolProcess.run(arguments + ["--dry-run"], store: folder.path())
            #expect(tried.status == 0, "\(arguments): \(tried.output)\(tried.errors)")
            #expect(tried.output.contains(words), "\(arguments): \(tried.output)\(tried.errors)")
            let refused = try ToolProcess.run(arguments + ["--yes"], store: folder.path())
            #expect(refused.status == 4, "\(arguments): \(refused.output)\(refused.errors)")
        }
        #expect(storage.head == head)
        try await storage.save(Draft(id: 1, text: "three"))
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    /// The worker's commits are ten inserts, then an insert or update and a delete, then an insert.
    private func expectWholeCommits(_ history: String) throws {
        var counts: [Int: [String: Int]] = [:]
        for line in history.split(separator: "\n") {
            let operation = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let row = try #require(operation["id"] as? String)
            let batch = row.split(separator: "-").prefix(2).joined(separator: "-")
            counts[try #require(operation["tx"] as? Int), default: [:]][batch, default: 0] += 1
        }
        for (commit, rows) in counts {
            let isBatch = rows.count == 1 && rows.first?.value == 10
            let isChange = Set(rows.keys).isSubset(of: ["changing", "deleted"]) && rows.values.allSatisfy { $0 == 1 }
            #expect(isBatch || isChange, "commit \(commit) is half there: \(rows)")
        }
        // Each of the five exports had more of them than the one before.
        #expect(counts.count >= 5)
    }
}
