import ArgumentParser
import StorageKit

/// How rows are shown: options for wide rows, as in psql and sqlite3.
struct RowOptions: ParsableArguments {
    @Flag(
        name: [.customShort("x"), .long, .customLong("line")],
        help: "Show rows vertically, a line for each column, as \\x of psql and .mode line of sqlite3 do.")
    var expanded = false

    @Option(help: "Only these columns, separated by commas.", transform: { try RowOptions.names($0) })
    var fields: [String]?

    @Flag(help: "Show long values whole, wider than the terminal.")
    var noTruncate = false

    init() {}

    var display: RowDisplay { RowDisplay(isExpanded: expanded, fields: fields, isWhole: noTruncate) }

    private static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else {
            throw GrammarError(problem: "'\(text)' names no column.", examples: "Fields look like id,title.")
        }
        // An object can hold only one value of a name.
        var seen: Set<ExactText> = []
        if let repeated = names.first(where: { !seen.insert(ExactText($0)).inserted }) {
            throw GrammarError(
                problem: "'\(text)' names the column \(repeated) twice.", examples: "Fields look like id,title.")
        }
        return names
    }

    /// - Throws: `usage` for a format that has one shape only.
    func check(_ format: OutputFormat) throws(CommandError) {
        guard expanded, format != .human else { return }
        throw CommandError(
            .usage, "--expanded is for people, and \(format.rawValue) for programs.",
            next: "Omit --expanded or --format \(format.rawValue).")
    }
}
