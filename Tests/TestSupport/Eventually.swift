/// A condition that didn't come to hold in time.
package struct NotEventually: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until a condition holds that other tasks bring about.
///
/// - Throws: ``NotEventually`` when the time is over, and what the condition throws.
package func eventually(
    within limit: Duration = .seconds(120), isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw NotEventually(description: "\(file):\(line): the condition didn't hold within \(limit)")
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
