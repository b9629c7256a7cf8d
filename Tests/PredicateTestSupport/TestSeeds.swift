internal import Foundation

/// How many times the everyday count of seeds is tried: `STORAGEKIT_TEST_SCALE`.
package let testScale = ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"].flatMap { Double($0) } ?? 1

/// Seeds for a test whose steps are random. `STORAGEKIT_SEED` replays a single one.
///
/// - Parameter least: How many there are at every scale.
package func testSeeds(_ count: Int, atLeast least: Int = 1) -> [UInt64] {
    if let seed = ProcessInfo.processInfo.environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    return (1...UInt64(max(least, Int(Double(count) * testScale)))).map { $0 }
}
