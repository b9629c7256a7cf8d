public import StorageCore

extension EntityQuery {
    /// Only rows for which a condition is true that is there already.
    public func `where`(_ condition: RowPredicate) -> Self { filter(condition) }

    /// Only rows for which a condition is true that names its columns by hand:
    /// `.where { Column<String>("home_city") == "Kyiv" }`.
    public func `where`(_ condition: () -> RowPredicate) -> Self { `where`(condition()) }
}
