/// A condition that didn't come to hold in time.
package struct NotEventually: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until a condition holds that other tasks bring about.
///
/// The limit is for the time in which those tasks can run. While other tests block all threads, or the machine is
/// suspended, no task runs, and much time passes between two checks, which otherwise follow each other within
/// milliseconds. So at most a tenth of a second of it counts: the other tasks can then run often before the wait ends.
///
/// - Parameter limit: How long to wait; at most a tenth of a second counts between two checks.
/// - Throws: ``NotEventually`` when the time is over, and what the condition throws.
package func eventually(
    within limit: Duration = .seconds(120), isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    var left = limit
    var last = ContinuousClock.now
    while try await !condition() {
        let now = ContinuousClock.now
        left -= min(now - last, .milliseconds(100))
        last = now
        guard left > .zero else {
            throw NotEventually(description: "\(file):\(line): the condition didn't hold within \(limit)")
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
