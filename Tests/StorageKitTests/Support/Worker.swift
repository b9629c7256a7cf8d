import Foundation

/// A process that writes to a store and can be killed at any moment.
final class Worker {
    private let process = Process()
    private let output = Pipe()

    init(store: String, mode: String, prefix: String) throws {
        // The worker is built beside the test bundle.
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = folder.appendingPathComponent("crash-worker")
        process.arguments = [store, mode, prefix]
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    var pid: Int32 { process.processIdentifier }

    /// Waits until the worker has opened the store.
    func waitUntilReady() -> Bool {
        var text = Data()
        while !text.contains(UInt8(ascii: "\n")) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return false }
            text.append(more)
        }
        seen = String(decoding: text, as: UTF8.self)
        return true
    }

    private var seen = ""

    /// Kills the worker with SIGKILL and returns the writes that it had said were done.
    func kill() -> [(rows: Int, name: String)] {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = seen + String(decoding: rest, as: UTF8.self)
        // The last line may have been cut off by the kill.
        let whole = text.hasSuffix("\n") ? text.split(separator: "\n") : text.split(separator: "\n").dropLast()
        return whole.compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let rows = Int(words[0]) else { return nil }
            return (rows, String(words[1]))
        }
    }
}
