import Foundation
import TestSupport
import Testing

/// P1, P2 and P9 on a disk that fails: whichever call of it fails, once or from then on, whoever asked for something is reported
/// that it is done or that it failed, and the store that is opened afterwards is sound and holds what was acknowledged.
struct DiskFaultTests {
    private static let faults = 4

    @Test(
        "A failing disk is an error, and nothing is lost",
        arguments: [
            "save", "save-many", "write-sql", "save-together", "undo", "restore-state", "tag", "rebuild",
            "remake-projection", "seal", "backup", "replace-backup", "checkpoint", "close", "open", "declare", "create",
            "tool-import", "tool-undo", "tool-redo", "tool-revert", "tool-restore-state", "tool-tag", "tool-note",
            "tool-projections", "tool-doctor", "tool-verify", "tool-rebuild", "tool-backup", "tool-restore",
        ])
    func failingDisk(operation: String) async throws {
        let seed = testSeeds(1)[0]
        let lab = try await FaultLab.run("disk", "\(seed)", "\(FaultLab.scaled(Self.faults))", "0", operation)
        #expect(lab.status == 0, "seed \(seed), died at \(lab.last)")
        #expect(lab.findings == [], "seed \(seed)")
        #expect(lab.count("faults") > 0, "seed \(seed): \(lab.counts)")
    }

    /// What is adopted goes through a write-ahead log, whose last checkpoint may fail.
    @Test(
        "Adopting on a failing disk is done or an error",
        arguments: ["tool-adopt", "tool-adopt-over", "tool-adopt-in-place"])
    func adoptingOnFailingDisk(operation: String) async throws {
        // One of each kind at least.
        let faults = max(8, FaultLab.scaled(Self.faults))
        let lab = try await FaultLab.run("disk", "7", "\(faults)", "0", operation)
        #expect(lab.status == 0, "died at \(lab.last)")
        #expect(lab.count("faults") > 0, "died at \(lab.last)")
        #expect(lab.findings == [])
    }
}
