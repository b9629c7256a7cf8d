import Foundation
import TestSupport

/// What the environment says of how the tests are run.
enum TestSettings {
    private static let environment = ProcessInfo.processInfo.environment

    /// The lengths of a sealed run that matter: borders everywhere, between, and the real one.
    static let segmentLengths: [Int] =
        environment["STORAGEKIT_SEGMENT_LENGTH"].flatMap(Int.init).map { [$0] } ?? [1, 2, 4, 1_024]

    /// The length for tests that don't care.
    static let segmentLength = environment["STORAGEKIT_SEGMENT_LENGTH"].flatMap(Int.init)

    static func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * testScale)) }

    /// Seeds to try; `STORAGEKIT_SEED` replays a single one.
    static func seeds(_ count: Int, from base: UInt64) -> [UInt64] {
        if let seed = environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return (0..<UInt64(scaled(count))).map { base &+ $0 }
    }
}
