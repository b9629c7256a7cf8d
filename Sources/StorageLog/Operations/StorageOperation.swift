/// What somebody did to a store as a whole, beside changing rows: an import, a rebuild, a pause of a projection.
///
/// It is a row of `storage_operation` and so an event of the log, in a commit with who did it, with what and why.
package struct StorageOperation: Sendable, Equatable {
    /// The command, with its action where it has several: `rebuild`, `projections pause`.
    package let command: String
    /// What it was done to or from: tables, a projection, the name of a file without its folder; nil for the whole.
    package let subject: String?
    /// What became of it, as one JSON object.
    package let outcome: String

    package init(_ command: String, subject: String? = nil, outcome: String = "{}") {
        self.command = command
        self.subject = subject
        self.outcome = outcome
    }
}
