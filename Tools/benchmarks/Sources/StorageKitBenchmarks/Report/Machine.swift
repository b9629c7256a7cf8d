import CBaseline
import Foundation

/// What the numbers were measured on.
struct Machine {
    let processor: String
    let cores: Int
    let memoryGigabytes: Double
    let system: String
    let fileSystem: String
    let sqliteVersion: String
    let swiftVersion: String

    /// Describes this machine and the file system that holds `directory`.
    init(directory: URL) {
        let information = ProcessInfo.processInfo
        processor = Self.field("model name", of: "/proc/cpuinfo") ?? "unknown"
        cores = information.activeProcessorCount
        memoryGigabytes = Double(information.physicalMemory) / 1_000_000_000
        let kernel = Self.output(of: ["uname", "-sr"]) ?? "unknown kernel"
        system = "\(information.operatingSystemVersionString), \(kernel)"
        fileSystem = Self.output(of: ["stat", "-f", "-c", "%T", directory.path]) ?? "unknown"
        sqliteVersion = String(cString: cb_sqlite_version())
        swiftVersion = Self.output(of: ["swift", "--version"]) ?? "unknown"
    }

    private static func field(_ name: String, of path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: ":", maxSplits: 1).last?.trimmingCharacters(in: .whitespaces)
    }

    /// First line that a program prints; nil if it isn't there or fails.
    private static func output(of command: [String]) -> String? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return nil
        }
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }
}
