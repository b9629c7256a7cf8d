public import StorageCore
public import StorageEntities
internal import StorageLog

extension Storage {
    /// Returns the differences between two points: one net change for each row, however many events it had between them.
    ///
    /// ```swift
    /// for try await change in storage.diff(from: .commit(12)) {
    ///     print(change.operation, change.table, change.new ?? [])
    /// }
    /// ```
    ///
    /// Rows that are equal at both points are left out. Tables come by name, rows in the order of their keys. Columns and tables are named as they
    /// are at `to`, or as they were at `from` if they were dropped. A `to` before `from` gives the reverse.
    ///
    /// The events between the points are read once, when the first change is asked for; memory stays small because what
    /// doesn't fit goes to a temporary database.
    ///
    /// - Parameter tables: Entities by the name that they have at one of the points; all if empty.
    /// - Throws: While it is read: `not-found` for a point that isn't in the log.
    public func diff(
        from: StoragePoint, to: StoragePoint = .head, tables: Set<String> = []
    ) -> StorageDifference {
        StorageDifference(engine: engine, from: from, to: to, tables: tables)
    }

    /// Returns the entities of one type that differ between two points, each complete at both points.
    ///
    /// Both are read as the type is declared now. A property whose column didn't exist at a point has the column's default there; one whose column
    /// was converted since has the converted value.
    ///
    /// - Throws: While it is read: `not-found` for a point that isn't in the log, `invalid-value` for an entity that the type can't represent,
    ///   `schema-mismatch` if this program doesn't declare a conversion.
    public func diff<E: RegisteredEntity>(
        _ type: E.Type, from: StoragePoint, to: StoragePoint = .head
    ) -> EntityDifferences<E> {
        EntityDifferences(engine: engine, upcasts: snapshots.upcasts, from: from, to: to)
    }
}
