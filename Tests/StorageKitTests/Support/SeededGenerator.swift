import Foundation

/// Random numbers that a printed seed brings back (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Seeds for a test whose steps are random, which a failure names: the same ones every day, new ones where
/// `STORAGEKIT_TEST_SCALE` asks for more than the everyday count. `STORAGEKIT_SEED` replays a single one.
func testSeeds(_ count: Int) -> [UInt64] {
    if let seed = ProcessInfo.processInfo.environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    return (0..<max(1, Int(Double(count) * testScale))).map {
        testScale > 1 ? .random(in: 0...UInt64.max) : UInt64($0) + 1
    }
}
