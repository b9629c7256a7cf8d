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
        let zstd = Process()
        zstd.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        zstd.arguments = ["zstd", "--decompress", "--quiet", "--force", "-o", destination.path, "--", source.path]
        try zstd.run()
        zstd.waitUntilExit()
        guard zstd.terminationStatus == 0 else {
            throw BenchmarkError("zstd could not decompress the history \(source.path). Is zstd installed?")
        }
        return destination
    }
}
