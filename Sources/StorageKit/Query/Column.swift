public import StorageCore

/// A typed column; see ``StorageCore/StorageColumn``.
public typealias Column<Value> = StorageColumn<Value>
/// A condition on rows; see ``StorageCore/RowPredicate``.
public typealias Predicate = RowPredicate
/// The direction of a sort; see ``StorageCore/RowOrder``.
public typealias SortOrder = RowOrder
