import CallgrindRequests

/// Where instructions are counted.
enum Callgrind {
    /// Counts the instructions of `body`, those of other threads meanwhile too.
    static func count<Result>(_ body: () throws -> Result) rethrows -> Result {
        callgrind_start()
        defer { callgrind_stop() }
        return try body()
    }

    /// Counts the instructions of `body`, those of other threads meanwhile too.
    static func count<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        callgrind_start()
        defer { callgrind_stop() }
        return try await body()
    }
}
