import Foundation

/// A real change history: JSON Lines, or the same compressed with zstd.
struct HistoryFile {
    let source: URL

    /// The file's name up to the first dot, for reports.
    var name: String {
        String(source.lastPathComponent.prefix { $0 != "." })
    }

    /// Puts the plain JSON Lines into a directory, unless they are plain already, and returns where they are.
    func jsonLines(in directory: URL) throws -> URL {
        guard source.pathExtension == "zst" else { return source }
        let destination = directory.appendingPathComponent(name + ".jsonl")
        try Self.zstd(["--decompress", "--quiet", "--force", "-o", destination.path, "--", source.path])
        return destination
    }

    /// How long `zstd -19` of the plain JSON Lines is.
    func compressedBytes(in directory: URL) throws -> Int {
        let destination = directory.appendingPathComponent(name + ".jsonl.19.zst")
        if !FileManager.default.fileExists(atPath: destination.path) {
            let lines = try jsonLines(in: directory)
            try Self.zstd(["-19", "--quiet", "--force", "-o", destination.path, "--", lines.path])
        }
        return try FileManager.default.attributesOfItem(atPath: destination.path)[.size] as? Int ?? 0
    }

    private static func zstd(_ arguments: [String]) throws {
        let zstd = Process()
        zstd.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        zstd.arguments = ["zstd"] + arguments
        try zstd.run()
        zstd.waitUntilExit()
        guard zstd.terminationStatus == 0 else {
            throw BenchmarkError("zstd \(arguments.joined(separator: " ")) failed. Is zstd installed?")
        }
    }
}
