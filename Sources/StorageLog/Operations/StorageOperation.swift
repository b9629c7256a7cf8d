/// An operation on a store as a whole, other than changing rows: an import, a rebuild, a pause of a projection.
///
/// It is a row of `storage_operation` and so an event of the log, in a commit with the actor, the program and the reason.
package struct StorageOperation: Sendable, Equatable {
    /// The command, with its action if it has several: `rebuild`, `projections pause`.
    package let command: String
    /// The subject of the operation: tables, a projection, the name of a file without its folder; nil for the whole store.
    package let subject: String?
    /// The result as one JSON object.
    package let outcome: String

    package init(_ command: String, subject: String? = nil, outcome: String = "{}") {
        self.command = command
        self.subject = subject
        self.outcome = outcome
    }
}
