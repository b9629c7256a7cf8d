public import StorageCore

/// What to do if a change can't be reverted because the row has changed since.
public enum ConflictPolicy: String, Sendable, CaseIterable {
    /// Nothing is changed, and the conflicts are reported.
    case abort
    /// Later changes are kept; the rest is reverted.
    case skip
    /// Later changes are overwritten with the old values.
    case overwrite
}

/// A change that couldn't be reverted.
public struct RevertConflict: Sendable, Equatable {
    public let table: String
    /// The row's primary key.
    public let key: [StorageValue]
    /// The column that holds another value by now; nil where it is the row as a whole.
    public let column: String?
    /// The conflict.
    public let reason: String
    /// The value that the reverted change had set.
    public let expected: StorageValue?
    /// What is there now.
    public let found: StorageValue?
}

/// What a revert did.
public struct RevertOutcome: Sendable, Equatable {
    public internal(set) var inserted = 0
    public internal(set) var updated = 0
    public internal(set) var deleted = 0
    /// What stood in the way, the first thousand of it.
    public internal(set) var conflicts: [RevertConflict] = []

    /// How many changes were made.
    public var count: Int { inserted + updated + deleted }

    static let conflictLimit = 1_000

    mutating func add(_ conflict: RevertConflict) {
        if conflicts.count < Self.conflictLimit { conflicts.append(conflict) }
    }
}

extension StorageError {
    /// The error of ``ConflictPolicy/abort``.
    package static func refused(_ conflicts: [RevertConflict]) -> StorageError {
        let first = conflicts.first.map { conflict in
            let key = conflict.key.map { "\($0)" }.joined(separator: ",")
            return "\(conflict.table)/\(key)\(conflict.column.map { "#\($0)" } ?? ""): \(conflict.reason)"
        }
        let more = conflicts.count > 1 ? ", and \(conflicts.count - 1) more" : ""
        return StorageError(
            .conflict, "Nothing was changed: \(first ?? "")\(more).",
            remedy: "Skip what has changed since (skip), or overwrite it with the old values (overwrite).")
    }
}
