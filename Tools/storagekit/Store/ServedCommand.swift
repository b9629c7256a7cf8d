import Foundation
import StorageKit

/// A command that answers for `storagekit mcp`, in a process of its own: it changes nothing, ends after a while, and reports
/// which state it has read.
///
/// The server says so in the environment; nobody else does.
enum ServedCommand {
    static let environmentKey = "STORAGEKIT_SERVED"

    /// Whether this process is one.
    static let isServed = seconds != nil
    private static let seconds = ProcessInfo.processInfo.environment[environmentKey].flatMap { UInt32($0) }

    /// Ends the process by itself if the server that waits for it is gone.
    static func begin() { if let seconds { alarm(seconds) } }

    /// Reports the newest state of the store that is read: `state POSITION COMMIT TIME`.
    static func report(_ store: HistoryReader) throws {
        guard isServed else { return }
        let commit = try store.index.commit(at: store.head.position)?.info
        write("state \(store.head.position)" + (commit.map { " \($0.number) \(Timestamp.text($0.time))" } ?? ""))
    }

    /// Reports what a point stands for: `point POSITION POINT`.
    static func report(_ point: PointArgument, at position: Int64) {
        if isServed { write("point \(position) \(point)") }
    }

    private static func write(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        // Where the server has gone, the output's own write fails as well.
        _ = bytes.withUnsafeBytes { Foundation.write(ChildProcess.reportDescriptor, $0.baseAddress, $0.count) }
    }
}
