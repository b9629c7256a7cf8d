public import StorageCore
internal import StorageLog

/// A change that couldn't be reverted.
///
/// ```swift
/// let report = try await storage.revert(77, onConflict: .skip)
/// for conflict in report.outcome.conflicts {
///     print(conflict.table, conflict.key, conflict.column ?? "", conflict.reason)
/// }
/// ```
public struct RevertConflict: Sendable, Equatable {
    /// The table of the row, by its current name.
    public let table: String
    /// The row's primary key.
    public let key: [StorageValue]
    /// The column that holds another value by now; nil if the conflict is about the row as a whole.
    public let column: String?
    /// The conflict.
    public let reason: String
    /// The value that the reverted change had set.
    public let expected: StorageValue?
    /// The current value.
    public let found: StorageValue?
}

extension RevertConflict: CustomStringConvertible {
    /// The conflict in one line: `posts/42#title: it has changed since (expected "a", found "b")`.
    public var description: String {
        let values = [expected.map { "expected \($0)" }, found.map { "found \($0)" }].compactMap { $0 }
        return "\(ChangeText.row(table, key))\(column.map { "#\($0)" } ?? ""): \(reason)"
            + (values.isEmpty ? "" : " (\(values.joined(separator: ", ")))")
    }
}

extension StorageError {
    /// What the user of a command with a ``ConflictPolicy`` can do about conflicts.
    package static let reversalRemedy =
        "Skip what has changed since (skip), or overwrite it with the old values (overwrite)."

    /// The error of ``ConflictPolicy/abort``.
    package static func refused(
        _ conflicts: [RevertConflict], remedy: String = reversalRemedy
    ) -> StorageError {
        let first = conflicts.first.map { conflict in
            let key = conflict.key.map { "\($0)" }.joined(separator: ",")
            return "\(conflict.table)/\(key)\(conflict.column.map { "#\($0)" } ?? ""): \(conflict.reason)"
        }
        let more = conflicts.count > 1 ? ", and \(conflicts.count - 1) more" : ""
        return StorageError(
            .conflict, "Nothing was changed: \(first ?? "")\(more).",
            remedy: remedy)
    }
}
