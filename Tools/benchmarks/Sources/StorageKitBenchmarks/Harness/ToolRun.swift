import Foundation

/// One run of a program whose standard output is read to its end: what a user waits for, and what it costs in memory.
struct ToolRun {
    let secondsToFirstLine: Double
    let seconds: Double
    /// The most memory that it had resident at any time up to its last output; nil where the system can't tell.
    let peakBytes: Double?
    /// Without what follows the first newline.
    let firstLine: String

    init(_ program: URL, _ arguments: [String]) throws {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardOutput = pipe
        let start = ContinuousClock.now
        try process.run()
        var line: [UInt8] = []
        var first: Duration?
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        var peak: Double?
        var sampled: ContinuousClock.Instant?
        while true {
            let count = read(pipe.fileHandleForReading.fileDescriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if sampled.map({ ContinuousClock.now - $0 > .milliseconds(5) }) ?? true {
                // Not what wait4(2) tells: that counts what this process has resident too.
                peak = ResidentMemory.peak(of: process.processIdentifier) ?? peak
                sampled = .now
            }
            guard first == nil else { continue }
            line += bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
            if bytes[..<count].contains(UInt8(ascii: "\n")) { first = ContinuousClock.now - start }
        }
        process.waitUntilExit()
        let whole = ContinuousClock.now - start
        guard process.terminationStatus == 0 else {
            throw BenchmarkError(
                "storagekit \(arguments.joined(separator: " ")) ended with \(process.terminationStatus).")
        }
        secondsToFirstLine = (first ?? whole) / .seconds(1)
        seconds = whole / .seconds(1)
        peakBytes = peak
        firstLine = String(decoding: line, as: UTF8.self)
    }
}
