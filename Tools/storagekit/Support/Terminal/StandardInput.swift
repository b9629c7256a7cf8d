/// The text that a command reads from its standard input, to the end.
enum StandardInput {
    /// - Throws: `unavailable` if it can't be read; `usage` for text that isn't UTF-8, naming its first line: decoded in spite of that, it would be
    ///   another text.
    static func text() throws(CommandError) -> String {
        var bytes: [UInt8] = []
        try FileInput(path: "-").forEachPiece {
            bytes += $0
            return true
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw CommandError(
            .usage, "Line \(line + 1) of standard input isn't UTF-8.",
            next: "Convert it to UTF-8, or write the bytes as a blob: x'FF'.")
    }
}
