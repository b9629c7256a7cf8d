public import StorageCore

/// What happens where a change can't be taken back because the row has changed since.
public enum ConflictPolicy: String, Sendable, CaseIterable {
    /// Nothing is taken back at all, and the conflicts are told.
    case abort
    /// What has changed since stays as it is; the rest is taken back.
    case skip
    /// The value from before is put back, over what came since.
    case overwrite
}

/// A change that couldn't be taken back as it was.
public struct RevertConflict: Sendable, Equatable {
    public let table: String
    /// The row's primary key.
    public let key: [StorageValue]
    /// The column that holds another value by now; nil where it is the row as a whole.
    public let column: String?
    /// What stands in the way.
    public let reason: String
    /// What the change that is to be taken back had left.
    public let expected: StorageValue?
    /// What is there now.
    public let found: StorageValue?
}

/// What taking back changes did.
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
            remedy: "Leave out what has changed since (skip), or put the old values over it (overwrite).")
    }
}
