public import StorageCore
public import StorageEntities
internal import StorageLog

extension Storage {
    /// Returns the differences between two points: one net change for each row, however many events it has between them.
    ///
    /// ```swift
    /// for try await change in storage.diff(from: .commit(12)) {
    ///     print(change.operation, change.table, change.new ?? [])
    /// }
    /// ```
    ///
    /// Rows that are equal at both points are left out. Tables are in the order of their names, rows in the order of their
    /// keys. Columns and tables have their names at `to`, or at `from` if they were dropped. If `to` is before `from`, the
    /// differences are reversed.
    ///
    /// The events between the points are read once, when the first change is read. Memory use stays small: what doesn't fit
    /// goes to a temporary database.
    ///
    /// - Parameter tables: The entities to compare, by a name that they have at one of the points; all if empty.
    /// - Throws: While it is read: `not-found` for a point that isn't in the log.
    public func diff(
        from: StoragePoint, to: StoragePoint = .head, tables: Set<String> = []
    ) -> StorageDifference {
        StorageDifference(engine: engine, from: from, to: to, tables: tables)
    }

    /// Returns the entities of one type that differ between two points, each complete at both points.
    ///
    /// Both are read as the type is declared now. If a property's column didn't exist at a point, the property has the column's
    /// default; if the column was converted since, it has the converted value.
    ///
    /// - Throws: While it is read: `not-found` for a point that isn't in the log and for an entity that the store has never had,
    ///   `invalid-value` for an entity that the type can't represent, `schema-mismatch` if this program doesn't declare a conversion.
    public func diff<E: RegisteredEntity>(
        _ type: E.Type, from: StoragePoint, to: StoragePoint = .head
    ) -> EntityDifferences<E> {
        EntityDifferences(engine: engine, upcasts: snapshots.upcasts, from: from, to: to)
    }
}
