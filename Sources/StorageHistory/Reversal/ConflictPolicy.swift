/// What to do if a change can't be reverted because the row has changed since.
///
/// ```swift
/// let report = try await storage.revert(77, onConflict: .overwrite, actor: "anna")
/// ```
public enum ConflictPolicy: String, Sendable, CaseIterable {
    /// Nothing is changed, and the conflicts are reported.
    case abort
    /// Later changes are kept; the rest is reverted.
    case skip
    /// Later changes are overwritten with the old values. If a row can't be deleted or changed otherwise, foreign keys delete or
    /// change the rows that refer to it, also those that the same revert has put back; the counts of the report include them.
    case overwrite
}
