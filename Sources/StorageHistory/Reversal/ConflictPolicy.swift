/// What to do if a change can't be reverted because the row has changed since.
public enum ConflictPolicy: String, Sendable, CaseIterable {
    /// Nothing is changed, and the conflicts are reported.
    case abort
    /// Later changes are kept; the rest is reverted.
    case skip
    /// Later changes are overwritten with the old values.
    case overwrite
}
