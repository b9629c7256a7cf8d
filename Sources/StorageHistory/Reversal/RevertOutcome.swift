internal import StorageLog

/// What a revert did.
///
/// ```swift
/// let outcome = try await storage.undo(of: "anna").outcome
/// print(outcome.inserted, outcome.updated, outcome.deleted)
/// ```
public struct RevertOutcome: Sendable, Equatable {
    /// The number of inserted rows.
    public internal(set) var inserted = 0
    /// The number of updated rows.
    public internal(set) var updated = 0
    /// The number of deleted rows.
    public internal(set) var deleted = 0
    /// The conflicts, up to a thousand of them.
    public internal(set) var conflicts: [RevertConflict] = []

    /// How many changes were made.
    public var count: Int { inserted + updated + deleted }

    static let conflictLimit = 1_000

    mutating func add(_ conflict: RevertConflict) {
        if conflicts.count < Self.conflictLimit { conflicts.append(conflict) }
    }
}

extension RevertOutcome: CustomStringConvertible {
    /// The outcome in one line: `2 inserted, 1 updated, 3 conflicts`.
    public var description: String {
        (ChangeText.counts(inserted: inserted, updated: updated, deleted: deleted) ?? "no changes")
            + (conflicts.isEmpty ? "" : ", " + ChangeText.number(conflicts.count, "conflict"))
    }
}
