import Foundation
import StorageKit

/// A command that runs for `storagekit mcp`, in its own process: it changes nothing, ends after a time limit, and reports which state it has read.
///
/// Only the server sets this in the environment.
enum ServedCommand {
    static let environmentKey = "STORAGEKIT_SERVED"

    /// Whether this process runs such a command.
    static let isServed = seconds != nil
    private static let seconds = ProcessInfo.processInfo.environment[environmentKey].flatMap { UInt32($0) }

    /// Makes the process end by itself if the server that waits for it is gone.
    static func begin() { if let seconds { alarm(seconds) } }

    /// Reports the newest event of the state that is read: `state POSITION COMMIT TIME`.
    static func report(_ store: HistoryReader) throws {
        guard isServed else { return }
        let commit = try store.index.commit(at: store.head.position)?.info
        write("state \(store.head.position)" + (commit.map { " \($0.number) \(Timestamp.text($0.time))" } ?? ""))
    }

    /// Reports the position of a point: `point POSITION POINT`.
    static func report(_ point: PointArgument, at position: Int64) {
        if isServed { write("point \(position) \(point)") }
    }

    private static func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        // If the server is gone, the output's own write fails as well.
        _ = bytes.withUnsafeBytes { Foundation.write(ChildProcess.reportDescriptor, $0.baseAddress, $0.count) }
    }
}
