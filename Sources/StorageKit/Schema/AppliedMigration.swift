public import Foundation
internal import GRDB
internal import StorageCore
internal import StorageLog

/// A schema step that runs once in the life of a store: a migration, identified by its id, or a change of columns or tables,
/// identified by its id or by its title, such as `rename users.mail to email`.
///
/// ```swift
/// let ids = try await storage.appliedMigrations().map(\.id)
/// ```
public struct AppliedMigration: Sendable, Hashable, Identifiable {
    /// The step's id, or its title if it has no id.
    public let id: String
    /// The position after which the store contains the step's changes.
    public let position: Int64
    /// When the step was done.
    public let date: Date
}

extension Storage {
    /// Returns the migrations and schema changes that this store has had, in their order.
    ///
    /// ```swift
    /// for migration in try await storage.appliedMigrations() {
    ///     print(migration.date.formatted(), migration.id)
    /// }
    /// ```
    ///
    /// The log contains what each of them changed, with its id or title as the commit's reason.
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func appliedMigrations() async throws -> [AppliedMigration] {
        try await read { db in
            let prefix = SchemaStep.keyPrefix
            // A step that has written nothing has the position of the step before it, and sorts after it.
            let rows = try GRDB.Row.fetchAll(
                db,
                sql: """
                    SELECT substr(key, length(:prefix) + 1) AS id, last, time FROM storage_commit_key
                    WHERE substr(key, 1, length(:prefix)) = :prefix ORDER BY last, number = 0, time, id
                    """, arguments: ["prefix": prefix])
            return rows.map { row in
                AppliedMigration(id: row["id"], position: row["last"], date: Date(microseconds: row["time"]))
            }
        }
    }
}

extension AppliedMigration: CustomStringConvertible {
    /// The step in one line: `add-authors @3 2026-01-15T10:00:00Z`.
    public var description: String { "\(id) @\(position) \(date.formatted(.iso8601))" }
}
