import Foundation
import TestSupport
import Testing

@testable import StorageSync

/// Every accepted write is applied once or parked where somebody sees it, in the order of its document; in the end all are
/// equal.
///
/// `STORAGEKIT_TEST_SCALE` multiplies the seeds, `STORAGEKIT_SEED` replays one.
struct SimulationTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// `STORAGEKIT_SEED` alone, or so many for each of the parts, which run side by side.
    private static func seeds(_ count: Int, part: Int = 0, of parts: Int = 1) -> [UInt64] {
        if let seed = environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return part == 0 ? [seed] : [] }
        return (0..<max(parts, Int(Double(count) * testScale))).filter { $0 % parts == part }.map { UInt64($0) + 1 }
    }

    private func run(_ seed: UInt64, defect: PlantedDefect? = nil) -> Simulation {
        let simulation = Simulation(seed: seed, clients: 2 + Int(seed % 7), writes: 60, defect: defect)
        simulation.run()
        return simulation
    }

    @Test("All converge, and nothing is lost or repeated", arguments: 0..<4)
    func convergence(part: Int) {
        var counts: [String: Int] = [:]
        for seed in Self.seeds(100, part: part, of: 4) {
            let simulation = run(seed)
            #expect(simulation.findings.isEmpty, "seed \(seed)")
            counts.merge(simulation.counts, uniquingKeysWith: +)
        }
        // Whatever the seeds, none of them may have become harmless.
        guard Self.environment["STORAGEKIT_SEED"] == nil, testScale >= 1 else { return }
        for kind in [
            "writes", "merged", "merged conflicts", "deletions", "parked", "crashes", "conflicts", "cut directions",
            "clock jumps", "hub restarts",
            "hub restorations", "busy hub", "upgrades",
        ] {
            #expect(counts[kind, default: 0] >= 5, "\(kind)")
        }
    }

    @Test("Planted defects are found", arguments: PlantedDefect.allCases)
    func plantedDefects(_ defect: PlantedDefect) {
        // The rarest, origins that are forgotten, shows in one of a thousand seeds, however much trouble there is; OutboxMergingTests
        // test it each time. The first seed is one of those. After a change of the simulation or of the core it may be another, which
        // a run with STORAGEKIT_TEST_SCALE=2 prints.
        let seeds: [UInt64] = [1_482] + Array(1...(testScale > 1 ? 5_000 : 250))
        let found = seeds.first { !run($0, defect: defect).findings.isEmpty }
        #expect(found != nil, "no seed finds it; look for one with STORAGEKIT_TEST_SCALE=2")
        if let found, found > 250, found != seeds[0] { print("\(defect) is found by seed \(found)") }
    }

    /// Many clients of one hub: five seeds of 2,000 at scale 100.
    @Test("Many clients of one hub converge")
    func manyClients() {
        for seed in Self.seeds(1).prefix(min(5, max(1, Int(testScale / 20)))) {
            let count = Int(min(2_000, 50 * max(1, testScale / 2.5)))
            let simulation = Simulation(seed: seed, clients: count, writes: count * 3)
            simulation.run()
            #expect(simulation.findings.isEmpty, "seed \(seed)")
        }
    }
}
