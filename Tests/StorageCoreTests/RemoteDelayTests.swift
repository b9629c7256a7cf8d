import StorageCore
import TestSupport
import Testing

/// How long remotes that fail are left alone.
@Suite struct RemoteDelayTests {
    @Test("The random part grows with the failures")
    func delaysGrowWithFailures() {
        var random = SplitMix64(seed: 1)
        for (failures, seconds) in [(0, 2), (1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 60), (7, 60), (10_000, 60)] {
            let delays = (0..<1_000).map { _ in
                RemoteDelay(after: failures, remoteAsksFor: nil, longest: 0, using: &random).microseconds
            }
            let ceiling = Int64(seconds) * 1_000_000
            #expect(delays.allSatisfy { (0...ceiling).contains($0) })
            // Full jitter: anything from nothing to the ceiling.
            #expect((delays.min() ?? 0) < ceiling / 10)
            #expect((delays.max() ?? 0) > ceiling * 9 / 10)
        }
    }

    @Test("A delay that the remote asks for comes first")
    func requestedDelay() {
        var random = SplitMix64(seed: 1)
        func asked(_ microseconds: Int64?) -> RemoteDelay {
            RemoteDelay(after: 1, remoteAsksFor: microseconds, longest: 60_000_000, using: &random)
        }
        #expect(asked(nil).askedMicroseconds == 0)
        #expect(asked(-5).askedMicroseconds == 0)
        #expect(asked(5).askedMicroseconds == 5)
        #expect(asked(.max).askedMicroseconds == 60_000_000)
        let delay = asked(30_000_000)
        #expect(delay.microseconds == 30_000_000 + delay.randomMicroseconds)
    }
}
