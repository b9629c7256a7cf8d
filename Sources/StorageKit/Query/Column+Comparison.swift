public import StorageCore
public import StorageLog

// Comparisons of columns that hold a stored type. For an optional column `==` and `!=` mean what they mean in Swift: NULL
// equals NULL, and differs from every value. The other comparisons are never true of NULL.

public func == <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, V.isNullable ? .same : .equal, .value(value.storageValue))
}

public func != <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, V.isNullable ? .different : .notEqual, .value(value.storageValue))
}

public func < <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .less, .value(value.storageValue))
}

public func <= <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .lessOrEqual, .value(value.storageValue))
}

public func > <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .greater, .value(value.storageValue))
}

public func >= <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .greaterOrEqual, .value(value.storageValue))
}

// MARK: Columns with columns

public func == <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .same, .column(right.name))
}

public func != <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .different, .column(right.name))
}

public func < <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .less, .column(right.name))
}

public func <= <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .lessOrEqual, .column(right.name))
}

public func > <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greater, .column(right.name))
}

public func >= <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greaterOrEqual, .column(right.name))
}

// MARK: Enums over stored types

@_disfavoredOverload
public func == <V: RawRepresentable>(column: StorageColumn<V>, value: V) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .equal, .value(value.rawValue.storageValue))
}

@_disfavoredOverload
public func != <V: RawRepresentable>(column: StorageColumn<V>, value: V) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .notEqual, .value(value.rawValue.storageValue))
}

@_disfavoredOverload
public func == <V: RawRepresentable>(column: StorageColumn<V?>, value: V?) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .same, .value(value?.rawValue.storageValue ?? .null))
}

@_disfavoredOverload
public func != <V: RawRepresentable>(column: StorageColumn<V?>, value: V?) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .different, .value(value?.rawValue.storageValue ?? .null))
}
