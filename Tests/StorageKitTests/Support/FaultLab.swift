import Foundation
import TestSupport
import Testing

/// A run of the fault laboratory, which is a process of its own because it takes the place of SQLite's disk and allocator.
struct FaultLab {
    let counts: [String: Int]
    let findings: [String]
    /// What it was at when it ended, where it says so.
    let last: String
    /// The folder that it was working in, where it says so.
    let folder: String?
    /// How it ended: 0, another status, or the signal as a negative number.
    let status: Int32

    func count(_ name: String) -> Int { counts[name] ?? 0 }

    /// How much the laboratory does: 1 is the everyday size.
    static let scale =
        Double(ProcessInfo.processInfo.environment["STORAGEKIT_FAULT_SCALE"] ?? "") ?? testScale

    static func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

    static func run(_ arguments: String...) async throws -> FaultLab {
        try await withCheckedThrowingContinuation { continuation in
            // On a thread of its own, which may wait.
            Thread.detachNewThread { continuation.resume(with: Result { try runNow(arguments) }) }
        }
    }

    private static func runNow(_ arguments: [String]) throws -> FaultLab {
        let process = Process()
        // The worker is built beside the test bundle.
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = folder.appendingPathComponent("fault-worker")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.start()
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
            // Foundation's own way ends the process where a signal interrupts it.
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        process.waitForEnd()
        let isKilled = process.terminationReason == .uncaughtSignal
        return FaultLab(
            String(decoding: bytes, as: UTF8.self), status: process.terminationStatus * (isKilled ? -1 : 1))
    }

    private init(_ output: String, status: Int32) {
        var (counts, findings, last, folder) = ([String: Int](), [String](), "", String?.none)
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            switch words.first {
            case "finding": findings.append(String(words.last ?? ""))
            case "at": last = String(words.last ?? "")
            case "case": folder = words.last.map(String.init)
            case "count":
                let parts = words.last?.split(separator: " ") ?? []
                guard parts.count == 2 else { continue }
                counts[String(parts[0]), default: 0] += Int(parts[1]) ?? 0
            default: break
            }
        }
        (self.counts, self.findings, self.last, self.folder, self.status) = (counts, findings, last, folder, status)
    }
}
