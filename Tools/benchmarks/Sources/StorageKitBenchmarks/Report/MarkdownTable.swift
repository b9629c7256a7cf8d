/// A table whose first column is text and whose others are numbers.
struct MarkdownTable {
    let header: [String]
    var rows: [[String]] = []

    var text: String {
        let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
        return ([header, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
}
