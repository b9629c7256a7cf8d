import Foundation

/// A history that happened, in the format of `import`: one change a line.
package struct HistoryFile: CustomStringConvertible, Sendable {
    package struct Change {
        package let transaction: Int
        package let table: String
        package let id: String
        /// The columns that it sets; none where it deletes the row.
        package let row: [String: Any]?
    }

    /// A line that is no change.
    package struct BadLine: Error { package let text: String }

    package let description: String
    /// Prints its lines.
    private let command: String

    /// Those in the folder that `STORAGEKIT_HISTORIES` names.
    package static let outside: [HistoryFile] = {
        guard let folder = ProcessInfo.processInfo.environment["STORAGEKIT_HISTORIES"] else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".jsonl.zst") }.sorted().map {
            HistoryFile(description: $0, command: "zstd -dc '\(folder)/\($0)'")
        }
    }()

    /// Those from outside, or where there are none this repository's own, which a copy without git lacks.
    package static let all: [HistoryFile] = {
        guard outside.isEmpty else { return outside }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: package + "/.git") else { return [] }
        let command = "cd '\(package)' && Tools/support/git-history"
        return [HistoryFile(description: "this repository", command: command)]
    }()

    /// Its first changes.
    package func changes(limit: Int) throws -> [Change] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "(\(command)) | head -n \(limit)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        // Whoever prints more than is read says so.
        process.standardError = FileHandle.nullDevice
        try process.start()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitForEnd()
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            guard let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
                let transaction = object["tx"] as? Int, let table = object["table"] as? String
            else { throw BadLine(text: String(decoding: line, as: UTF8.self)) }
            return Change(
                transaction: transaction, table: table, id: "\(object["id"] ?? "")",
                row: object["row"] as? [String: Any])
        }
    }
}
