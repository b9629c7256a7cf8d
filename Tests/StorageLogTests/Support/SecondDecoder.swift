import Foundation
import TestSupport
import Testing

@testable import StorageLog

/// The decoder in Python, which was written from `Format.md` by somebody who saw nothing else.
enum SecondDecoder {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("SecondDecoder")

    /// What it prints of a store, and its error where it refuses it.
    static func decode(_ path: String) throws -> (output: String, error: String) {
        let (status, output, error) = try run([folder.appendingPathComponent("decode_log.py").path, path])
        #expect((status == 0) == error.isEmpty)
        return (output, error)
    }

    /// Of each store what is said against it; nil where it is read.
    static func refusals(_ paths: [String]) throws -> [String?] {
        let program = """
            import sys
            sys.path.insert(0, sys.argv[1])
            import decode_log
            for path in sys.argv[2:]:
                try:
                    decode_log.decode(path)
                    print()
                except decode_log.Refused as error:
                    print(error)
            """
        let (status, output, error) = try run(["-B", "-c", program, folder.path] + paths)
        #expect(status == 0, "\(error)")
        return output.split(separator: "\n", omittingEmptySubsequences: false).prefix(paths.count).map {
            $0.isEmpty ? nil : String($0)
        }
    }

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let (output, error) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, error)
        try process.start()
        let lines = try output.fileHandleForReading.readToEnd() ?? Data()
        let message = try error.fileHandleForReading.readToEnd() ?? Data()
        process.waitForEnd()
        return (
            process.terminationStatus, String(decoding: lines, as: UTF8.self), String(decoding: message, as: UTF8.self)
        )
    }
}
