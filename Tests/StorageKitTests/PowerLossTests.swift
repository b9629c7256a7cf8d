import Foundation
import TestSupport
import Testing

/// P1 and P2: a write that returned survives the loss of power, and a commit is wholly there or not at all.
///
/// The laboratory records every call that changes the disk while a store lives through random steps, and opens what is left
/// of it where the power goes: what wasn't synced is gone, there, there in part, or out of order.
struct PowerLossTests {
    private static let images = 70

    @Test("Nothing that was returned is lost with the power", arguments: testSeeds(1))
    func powerLoss(seed: UInt64) async throws {
        for part in 0..<max(1, FaultLab.scaled(Self.images) / 2_000) {
            let images = min(FaultLab.scaled(Self.images), 2_000)
            let lab = try await FaultLab.run("power", "\(seed &+ UInt64(part))", "40", "\(images)")
            #expect(lab.status == 0, "seed \(seed)")
            #expect(lab.findings == [], "seed \(seed)")
            #expect(lab.count("images") == images, "seed \(seed): \(lab.counts)")
            #expect(lab.count("acknowledged") > 5, "seed \(seed): \(lab.counts)")
            #expect(lab.count("stillborn") == 0, "seed \(seed)")
        }
    }

    /// With `normal` durability the last commits may be gone; what is there is as it was written.
    @Test("`normal` durability loses the last commits and nothing else")
    func normalDurability() async throws {
        var lost = 0
        // What the background does differs from run to run, so one of them may lose nothing.
        for seed in 1...20 where lost == 0 {
            let lab = try await FaultLab.run("power", "\(seed)", "40", "24", "normal")
            #expect(lab.status == 0)
            #expect(lab.count("unsound") == 0, "\(lab.findings)")
            #expect(lab.count("unusable") == 0, "\(lab.findings)")
            #expect(lab.count("half") == 0, "\(lab.findings)")
            lost += lab.count("lost")
        }
        #expect(lost > 0)
    }

    /// The laboratory can fail: on a disk that lies about bringing something to it, which is what `synchronous = OFF` makes of
    /// every disk, it sees losses and damage.
    @Test("The simulator sees what is lost without syncs")
    func lossWithoutSyncsIsSeen() async throws {
        var (lost, damaged) = (0, 0)
        // What the background does differs from run to run, so one of them may be lucky.
        for seed in 1...20 where lost == 0 || damaged == 0 {
            let lab = try await FaultLab.run("power", "\(seed)", "30", "24", "lying")
            #expect(lab.status == 0)
            lost += lab.count("lost")
            damaged += lab.count("unsound") + lab.count("unusable")
        }
        #expect(lost > 0)
        #expect(damaged > 0)
    }
}
