import Foundation

/// A process whose lines are read one by one.
package final class LineProcess {
    private let process: Process
    private let input = Pipe()
    private let lines: AsyncStream<String>

    /// The path of a program that was built beside the tests.
    package static func path(of program: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(program).path
    }

    /// - Parameter name: Of a program that was built beside the tests, or the path of another one.
    package init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: name.hasPrefix("/") ? name : Self.path(of: name))
        process.arguments = arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
            .merging(environment) { $1 }
        try process.start()
        // On a thread of its own: of a handle that calls back when there is something to read, libdispatch uses what it has freed,
        // now and then.
        Thread.detachNewThread { [handle = output.fileHandleForReading] in
            var (rest, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
            while true {
                let count = read(handle.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest += buffer[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            continuation.finish()
        }
    }

    /// A test that has failed half-way leaves no process behind.
    deinit {
        process.killWithChildren()
    }

    package var processIdentifier: Int32 { process.processIdentifier }
    package var isRunning: Bool { process.isRunning }

    /// The lines that come, up to one for which a condition holds; it is the last. All where none does.
    package func next(until isLast: (String) -> Bool) async -> [String] {
        var found: [String] = []
        for await line in lines {
            found.append(line)
            if isLast(line) { break }
        }
        return found
    }

    /// The next lines; fewer where it ends before.
    package func next(_ count: Int) async -> [String] {
        var left = count
        return await next { _ in
            left -= 1
            return left == 0
        }
    }

    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    package func kill(_ signal: Int32 = SIGKILL) {
        Foundation.kill(process.processIdentifier, signal)
        process.waitForEnd()
    }

    @discardableResult
    package func end() -> Int32 {
        // A process that has ended reads nothing more.
        try? input.fileHandleForWriting.close()
        process.waitForEnd()
        return process.terminationStatus
    }
}
