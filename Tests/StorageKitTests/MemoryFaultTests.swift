import Foundation
import TestSupport
import Testing

/// P2 and P9 where memory runs out: SQLite's allocations fail, one alone or all from one moment on, and the store that is
/// opened afterwards is sound and holds what was acknowledged. The process may die of it, as it may be killed: GRDB and Swift
/// end it where they can't go on.
struct MemoryFaultTests {
    private static let operations = [
        "save", "save-together", "rebuild", "seal", "backup", "open", "tool-verify", "tool-backup",
    ]

    @Test("What was acknowledged is there after memory ran out", arguments: operations, ["memory", "memory-out"])
    func outOfMemory(operation: String, memory: String) async throws {
        let seed = testSeeds(1)[0]
        let findings = try await findings(operation, memory, seed)
        #expect(findings == [], "seed \(seed)")
    }

    private func findings(_ operation: String, _ memory: String, _ seed: UInt64) async throws -> [String] {
        let limit = FaultLab.scaled(3)
        var (findings, tried) = ([String](), 0)
        while tried < limit {
            let lab = try await FaultLab.run(memory, "\(seed)", "\(limit)", "\(tried)", operation)
            findings += lab.findings
            if lab.status == 0 { break }
            let number = try #require(lab.last.split(separator: " ").first.flatMap { Int($0) }, "\(lab.status)")
            tried = number + 1
            let folder = try #require(lab.folder)
            let check = try await FaultLab.run("check", folder)
            #expect(check.status == 0)
            findings += check.findings
            try FileManager.default.removeItem(atPath: folder)
        }
        return findings
    }
}
