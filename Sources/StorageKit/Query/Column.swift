public import StorageCore

/// A typed column; see ``StorageCore/StorageColumn``.
public typealias Column<Value> = StorageColumn<Value>
