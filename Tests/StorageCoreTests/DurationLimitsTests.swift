import StorageCore
import Testing

/// Numbers and durations that users give can't end the process.
@Suite struct DurationLimitsTests {
    private static let century = Duration.seconds(3_153_600_000)

    @Test("Any number of seconds is a duration")
    func numbers() {
        #expect(Duration.limited(seconds: 1.5) == .milliseconds(1_500))
        #expect(Duration.limited(seconds: -2) == .seconds(-2))
        #expect(Duration.limited(seconds: .nan) == .zero)
        for seconds in [Double.infinity, .greatestFiniteMagnitude, 1e19] {
            #expect(Duration.limited(seconds: seconds) == Self.century)
            #expect(Duration.limited(seconds: -seconds) == .zero - Self.century)
        }
    }

    @Test("Any duration can be slept", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
    func sleeping(duration: Duration) async {
        let sleep = Task { try await Task.sleep(for: duration.limited) }
        sleep.cancel()
        _ = await sleep.result
        #expect(duration.limited <= Self.century)
        #expect(Duration.seconds(1).limited == .seconds(1))
    }
}
