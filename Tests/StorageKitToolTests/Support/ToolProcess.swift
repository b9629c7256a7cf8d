import Foundation
import TestSupport

/// The tool as its users run it: as a process.
struct ToolProcess {
    struct Outcome {
        let output: String
        let errors: String
        let status: Int32
    }

    /// The program that the build put beside the tests.
    static let program: URL = {
        let main = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        var folder = main.resolvingSymlinksInPath().deletingLastPathComponent()
        let bundles = [folder] + Bundle.allBundles.map(\.bundleURL)
        for start in bundles {
            folder = start
            // Where tests are a bundle, the program is beside it and not inside.
            for _ in 0..<5 {
                let candidate = folder.appendingPathComponent("storagekit")
                if FileManager.default.isExecutableFile(atPath: candidate.path), !isFolder(candidate) {
                    return candidate
                }
                folder.deleteLastPathComponent()
            }
        }
        return main.deletingLastPathComponent().appendingPathComponent("storagekit")
    }()

    /// A program in Python that becomes the program it is given, with SIGCHLD ignored.
    static let ignoringEndOfProcesses = """
        import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    static func environment(store: String?) -> [String: String] {
        var environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "80", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
        environment["STORAGEKIT_STORE"] = store
        return environment
    }

    /// A process that isn't started yet.
    static func prepared(_ arguments: [String], store: String?) -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment(store: store)
        process.standardInput = FileHandle.nullDevice
        return process
    }

    /// - Parameter input: What it reads from standard input, which is a pipe then.
    static func run(
        _ arguments: [String], store: String?, input: String? = nil, in folder: URL? = nil
    ) throws -> Outcome {
        let process = prepared(arguments, store: store)
        if let folder { process.currentDirectoryURL = folder }
        guard let input else { return try run(process) }
        let pipe = Pipe()
        process.standardInput = pipe
        // Fits into the pipe as it is, so nobody has to read meanwhile.
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        return try run(process)
    }

    /// Runs the tool without anybody listening, and kills it after a while.
    ///
    /// - Parameter delay: nil to let it end by itself.
    /// - Returns: How long it ran.
    @discardableResult
    static func runSilently(
        _ arguments: [String], store: String?, killedAfter delay: Duration? = nil
    ) async throws -> Duration {
        let process = prepared(arguments, store: store)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let start = ContinuousClock.now
        try process.start()
        if let delay {
            // On the thread that waits for the end as well: where all threads of tasks wait for processes, a sleeping
            // task would be resumed too late to kill one.
            usleep(UInt32(delay / .microseconds(1)))
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitForEnd()
        return ContinuousClock.now - start
    }

    /// Runs a line of shell in which `storagekit` is the tool.
    static func shell(_ line: String, store: String?) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "storagekit() { \"$0\" \"$@\"; }; \(line)", program.path]
        process.environment = environment(store: store)
        process.standardInput = FileHandle.nullDevice
        return try run(process)
    }

    private static func run(_ process: Process) throws -> Outcome {
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let errorHandle = errors.fileHandleForReading
        // Both are read at once, because a full pipe would stop the process.
        let errorReader = BackgroundThread { errorHandle.allBytes() }
        let text = output.fileHandleForReading.allBytes()
        process.waitForEnd()
        return Outcome(
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorReader.wait() ?? Data(), as: UTF8.self), status: process.terminationStatus)
    }
}
