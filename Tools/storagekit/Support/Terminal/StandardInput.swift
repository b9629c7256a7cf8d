/// The SQL that a command reads from its standard input, to the end.
enum StandardInput {
    /// - Throws: `unavailable` if it can't be read; `usage`, naming the first line, for text that isn't UTF-8 (decoded in spite of that, it would be
    ///   another text), and for a NUL character, where SQLite ends a text and ignores the rest.
    static func text() throws(CommandError) -> String {
        var bytes: [UInt8] = []
        try FileInput(path: "-").forEachPiece {
            bytes += $0
            return true
        }
        if let index = bytes.firstIndex(of: 0) {
            let line = bytes[..<index].count { $0 == UInt8(ascii: "\n") } + 1
            throw CommandError(
                .usage, "Line \(line) of standard input contains a NUL character, where SQLite would end the text.",
                next: "Remove it, convert UTF-16 to UTF-8, or write it in SQL: char(0), x'00'.")
        }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
        throw CommandError(
            .usage, "Line \(line + 1) of standard input isn't UTF-8.",
            next: "Convert it to UTF-8, or write the bytes as a blob: x'FF'.")
    }
}
