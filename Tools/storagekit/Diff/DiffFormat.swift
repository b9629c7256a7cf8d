import ArgumentParser

/// How a difference is written: as other results, or as SQL.
enum DiffFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case human, jsonl, json, csv, md
    /// Statements that turn the tables of the first state into those of the second.
    case sql

    init?(argument: String) {
        // People who come from other tools know the default by this name.
        self.init(rawValue: argument == "table" ? "human" : argument)
    }

    /// The format of results that aren't SQL.
    var output: OutputFormat { OutputFormat(rawValue: rawValue) ?? .human }
}
