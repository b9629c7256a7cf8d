import ArgumentParser

/// The output format of a difference: one of the usual formats, or SQL.
enum DiffFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case human, jsonl, json, csv, md
    /// Statements that turn the tables of the first state into those of the second.
    case sql

    init?(argument: String) {
        // Other tools call the default format `table`.
        self.init(rawValue: argument == "table" ? "human" : argument)
    }

    /// The format of results that aren't SQL.
    var output: OutputFormat { OutputFormat(rawValue: rawValue) ?? .human }
}
