import TestSupport
import Testing

/// How long a test waits for what other tasks bring about.
@Suite struct EventuallyTests {
    @Test("A standstill doesn't end the wait")
    func standstill() async throws {
        var checks = 0
        try await eventually(within: .milliseconds(210)) {
            checks += 1
            // As if other tests blocked all threads, or the machine stood still.
            if checks == 1 { try await Task.sleep(for: .milliseconds(220)) }
            // Each check counts for at most a tenth of a second.
            return checks == 3
        }
    }

    @Test("A condition that never holds ends the wait")
    func neverHolding() async {
        await #expect(throws: NotEventually.self) { try await eventually(within: .milliseconds(20)) { false } }
    }
}
