public import StorageCore

/// A typed column; see ``StorageColumn``.
public typealias Column<Value> = StorageColumn<Value>
/// A condition on rows; see ``RowPredicate``.
public typealias Predicate = RowPredicate
/// The direction of a sort; see ``RowOrder``.
public typealias SortOrder = RowOrder
