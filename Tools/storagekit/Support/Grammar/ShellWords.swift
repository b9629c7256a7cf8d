import StorageCore

/// Words of a command line as a POSIX shell reads them.
enum ShellWords {
    /// Returns a text as it is typed, such as SQL; nil if it is too long to be repeated in a line.
    static func quotedLine(_ text: String) -> String? {
        text.count <= 200 && !text.contains(where: \.isNewline) ? text.quotedAsShellWord : nil
    }

    static func line(_ words: [String]) -> String { words.map(\.quotedAsShellWord).joined(separator: " ") }
}
