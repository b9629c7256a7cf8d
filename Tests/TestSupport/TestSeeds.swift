import Foundation

/// How often the long tests repeat what they do: 1 is the everyday size, `STORAGEKIT_TEST_SCALE` another one.
package let testScale = ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1

/// Seeds for a test whose steps are random, which a failure names: the same ones every day, new ones where
/// `STORAGEKIT_TEST_SCALE` asks for more than the everyday count. `STORAGEKIT_SEED` replays a single one.
///
/// - Parameter least: How many there are at every scale.
package func testSeeds(_ count: Int, atLeast least: Int = 1) -> [UInt64] {
    if let seed = ProcessInfo.processInfo.environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    return (0..<max(least, Int(Double(count) * testScale))).map {
        testScale > 1 ? .random(in: 0...UInt64.max) : UInt64($0) + 1
    }
}
