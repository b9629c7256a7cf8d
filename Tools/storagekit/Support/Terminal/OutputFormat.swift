import ArgumentParser

/// The format of results.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// For people; may change in any version.
    case human
    /// One JSON object for each line, with `"v":1`; a documented contract.
    case jsonl
    /// One JSON document.
    case json
    case csv
    /// A Markdown table.
    case md
}
