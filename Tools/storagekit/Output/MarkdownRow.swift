/// A row of a table in GitHub's Markdown.
enum MarkdownRow {
    /// The row without the end of its line.
    ///
    /// - Parameter cells: nil for NULL, which is written as nothing, like an empty text.
    static func text(_ cells: [String?]) -> String {
        "| " + cells.map { escaped($0 ?? "") }.joined(separator: " | ") + " |"
    }

    /// The line between the titles and the rows.
    static func rule(columns: Int) -> String { "|" + String(repeating: " --- |", count: columns) }

    private static func escaped(_ cell: String) -> String {
        // By scalars, because a mark that combines with the bar would hide it.
        TerminalText.visible(cell).unicodeScalars.split(separator: "|", omittingEmptySubsequences: false)
            .map(String.init).joined(separator: "\\|")
    }
}
