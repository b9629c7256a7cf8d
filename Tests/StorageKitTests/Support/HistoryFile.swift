import Foundation
import Testing

/// A history that happened, in the format of `import`: one change a line.
struct HistoryFile: CustomTestStringConvertible {
    struct Change {
        let transaction: Int
        let id: String
        /// The columns that it sets; none where it deletes the row.
        let row: [String: Any]?
    }

    let testDescription: String
    /// Prints its lines.
    private let command: String

    /// Those in the folder that `STORAGEKIT_HISTORIES` names.
    static let outside: [HistoryFile] = {
        guard let folder = ProcessInfo.processInfo.environment["STORAGEKIT_HISTORIES"] else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".jsonl.zst") }.sorted().map {
            HistoryFile(testDescription: $0, command: "zstd -dc '\(folder)/\($0)'")
        }
    }()

    /// Those from outside, or where there are none this repository's own, which a copy without git lacks.
    static let all: [HistoryFile] = {
        guard outside.isEmpty else { return outside }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: package + "/.git") else { return [] }
        let command = "cd '\(package)' && Tools/support/git-history"
        return [HistoryFile(testDescription: "this repository", command: command)]
    }()

    /// Its first changes.
    func changes(limit: Int) throws -> [Change] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "(\(command)) | head -n \(limit)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        // Whoever prints more than is read says so.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            return Change(
                transaction: try #require(object["tx"] as? Int), id: "\(object["id"] ?? "")",
                row: object["row"] as? [String: Any])
        }
    }
}
