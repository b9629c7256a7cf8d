import Foundation
import StorageKit
import Testing

/// The tool beside another process that goes on writing.
@Suite(.serialized) struct LiveStoreTests {
    /// Each export of a store in use is a beginning of the next one: whole commits, nothing missing, nothing twice.
    @Test func exportsAndChecksOfAStoreInUseAreWhole() throws {
        let folder = try TestFolder()
        let store = folder.path()
        let writer = Process()
        writer.executableURL = ToolProcess.program.deletingLastPathComponent().appendingPathComponent("crash-worker")
        writer.arguments = [store, "batch", "w"]
        writer.standardOutput = FileHandle.nullDevice
        writer.environment = ["SWIFT_BACKTRACE": "enable=no"]
        try writer.run()
        defer {
            kill(writer.processIdentifier, SIGKILL)
            writer.waitUntilExit()
        }
        var earlier = ""
        var exports = 0
        let end = ContinuousClock.now + .seconds(900)
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
        #expect(exports == 5 && writer.isRunning)
        kill(writer.processIdentifier, SIGKILL)
        writer.waitUntilExit()
        let last = try ToolProcess.run(["export"], store: store).output
        #expect(last.hasPrefix(earlier))
        try expectWholeCommits(last)
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
        #expect(counts.count > 10)
    }
}
