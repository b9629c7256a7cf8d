import Foundation
import Synchronization

/// A process that writes to a store and can be killed at any moment.
package final class Worker {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    /// What the worker has printed so far. It is read all the time, because a full pipe would stop the worker.
    private let printed = Printed()

    private final class Printed: Sendable {
        private let bytes = Mutex(Data())
        private let ended = DispatchSemaphore(value: 0)
        func append(_ more: Data) { bytes.withLock { $0.append(more) } }
        func end() { ended.signal() }
        /// Waits until everything that an ended process has printed is here.
        func waitForEnd() {
            if ended.wait(timeout: .now() + 120) == .success { ended.signal() }
        }
        var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    }

    /// - Parameter other: The worker whose standard input is this one's standard output.
    package convenience init(store: String, mode: String, prefix: String, speakingTo other: Worker? = nil) throws {
        try self.init("crash-worker", [store, mode, prefix], speakingTo: other)
    }

    package init(_ program: String, _ arguments: [String], speakingTo other: Worker? = nil) throws {
        process.executableURL = URL(fileURLWithPath: LineProcess.path(of: program))
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = input
        process.standardOutput = other?.input ?? output
        process.standardError = FileHandle.nullDevice
        if other != nil { try output.fileHandleForWriting.close() }
        try process.start()
        // On a thread of its own: of a handle that calls back when there is something to read, libdispatch uses what it has
        // freed, now and then.
        Thread.detachNewThread { [printed, handle = output.fileHandleForReading] in
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                // Foundation's own way ends the process where a signal interrupts it.
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                printed.append(Data(buffer[..<count]))
            }
            printed.end()
        }
    }

    /// A test that has failed half-way leaves no process behind.
    deinit {
        process.killWithChildren()
    }

    package var pid: Int32 { process.processIdentifier }

    /// Waits until the worker has printed this many lines: the first says that the store is open, each further one
    /// that a write has returned. False if the worker ends before, or ten minutes pass.
    package func waitForLines(_ count: Int) async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < deadline {
            if printed.text.split(separator: "\n").count >= count { return true }
            if !process.isRunning {
                printed.waitForEnd()
                return printed.text.split(separator: "\n").count >= count
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        return false
    }

    /// Lets a worker that waits to be asked make some commits.
    package func ask(for commits: UInt8) throws { try input.fileHandleForWriting.write(contentsOf: [commits]) }

    /// Waits until the worker ends by itself, and returns the number that it printed before a word.
    package func result(_ word: String) -> Int {
        process.waitForEnd()
        printed.waitForEnd()
        let line = printed.text.split(separator: "\n").last { $0.hasSuffix(" \(word)") }
        return line?.split(separator: " ").first.flatMap { Int($0) } ?? 0
    }

    /// Waits until the worker ends by itself, and returns with what.
    package func status() async throws -> Int32 {
        while process.isRunning { try await Task.sleep(for: .milliseconds(2)) }
        return exitStatus
    }

    /// Kills the worker with SIGKILL and returns the writes that it had said were done.
    package func kill() -> [(rows: Int, name: String)] { end(SIGKILL) }

    /// Asks the worker to end with SIGTERM, waits until it has, and returns the writes that it has said were done.
    package func terminate() -> [(rows: Int, name: String)] { end(SIGTERM) }

    /// With what the worker has ended.
    package var exitStatus: Int32 { process.terminationStatus }

    /// Waits until the worker has ended by itself, and returns what it has said.
    package func finish() -> [(rows: Int, name: String)] { end(nil) }

    /// Kills the worker with SIGKILL and returns the lines that it had printed whole.
    package func killedLines() -> [String] {
        Foundation.kill(process.processIdentifier, SIGKILL)
        return wholeLines()
    }

    private func wholeLines() -> [String] {
        process.waitForEnd()
        printed.waitForEnd()
        // The last line may have been cut off by the kill.
        let text = printed.text
        let lines = text.split(separator: "\n").map(String.init)
        return text.hasSuffix("\n") ? lines : lines.dropLast()
    }

    private func end(_ signal: Int32?) -> [(rows: Int, name: String)] {
        if let signal { Foundation.kill(process.processIdentifier, signal) }
        return wholeLines().compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let rows = Int(words[0]) else { return nil }
            return (rows, String(words[1]))
        }
    }
}
