public import StorageCore
public import StorageLog

// Comparisons of columns that hold a stored type. For an optional column `==` and `!=` work as in Swift: NULL equals NULL, and differs from every
// value. The other comparisons are never true for NULL.

/// True of rows whose column is equal to a value.
public func == <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, V.isNullable ? .same : .equal, .value(value.storageValue))
}

/// True of rows whose column differs from a value.
public func != <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, V.isNullable ? .different : .notEqual, .value(value.storageValue))
}

/// True of rows whose column is less than a value.
public func < <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .less, .value(value.storageValue))
}

/// True of rows whose column is at most a value.
public func <= <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .lessOrEqual, .value(value.storageValue))
}

/// True of rows whose column is greater than a value.
public func > <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .greater, .value(value.storageValue))
}

/// True of rows whose column is at least a value.
public func >= <V: StorageColumnValue>(column: StorageColumn<V>, value: V) -> RowPredicate {
    .comparison(column: column.name, .greaterOrEqual, .value(value.storageValue))
}

// MARK: Columns with columns

/// True of rows whose column is equal to another column.
public func == <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .same, .column(right.name))
}

/// True of rows whose column differs from another column.
public func != <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .different, .column(right.name))
}

// Disfavored, so that a column named by a string takes the other side's type and the overloads above are chosen.

/// True of rows whose column is equal to another column, which may be NULL.
@_disfavoredOverload
public func == <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .same, .column(right.name))
}

/// True of rows whose column, which may be NULL, is equal to another column.
@_disfavoredOverload
public func == <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .same, .column(right.name))
}

/// True of rows whose column differs from another column, which may be NULL.
@_disfavoredOverload
public func != <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .different, .column(right.name))
}

/// True of rows whose column, which may be NULL, differs from another column.
@_disfavoredOverload
public func != <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .different, .column(right.name))
}

/// True of rows whose column is less than another column.
public func < <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .less, .column(right.name))
}

/// True of rows whose column is at most another column.
public func <= <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .lessOrEqual, .column(right.name))
}

/// True of rows whose column is greater than another column.
public func > <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greater, .column(right.name))
}

/// True of rows whose column is at least another column.
public func >= <V>(left: StorageColumn<V>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greaterOrEqual, .column(right.name))
}

/// True of rows whose column is less than another column, which isn't NULL.
@_disfavoredOverload
public func < <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .less, .column(right.name))
}

/// True of rows whose column isn't NULL and is less than another column.
@_disfavoredOverload
public func < <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .less, .column(right.name))
}

/// True of rows whose column is at most another column, which isn't NULL.
@_disfavoredOverload
public func <= <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .lessOrEqual, .column(right.name))
}

/// True of rows whose column isn't NULL and is at most another column.
@_disfavoredOverload
public func <= <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .lessOrEqual, .column(right.name))
}

/// True of rows whose column is greater than another column, which isn't NULL.
@_disfavoredOverload
public func > <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .greater, .column(right.name))
}

/// True of rows whose column isn't NULL and is greater than another column.
@_disfavoredOverload
public func > <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greater, .column(right.name))
}

/// True of rows whose column is at least another column, which isn't NULL.
@_disfavoredOverload
public func >= <V>(left: StorageColumn<V>, right: StorageColumn<V?>) -> RowPredicate {
    .comparison(column: left.name, .greaterOrEqual, .column(right.name))
}

/// True of rows whose column isn't NULL and is at least another column.
@_disfavoredOverload
public func >= <V>(left: StorageColumn<V?>, right: StorageColumn<V>) -> RowPredicate {
    .comparison(column: left.name, .greaterOrEqual, .column(right.name))
}

// MARK: Enums over stored types

/// True of rows whose column holds the raw value of a case.
@_disfavoredOverload
public func == <V: RawRepresentable>(column: StorageColumn<V>, value: V) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .equal, .value(value.rawValue.storageValue))
}

/// True of rows whose column differs from the raw value of a case.
@_disfavoredOverload
public func != <V: RawRepresentable>(column: StorageColumn<V>, value: V) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .notEqual, .value(value.rawValue.storageValue))
}

/// True of rows whose column holds the raw value of a case, or NULL if the value is nil.
@_disfavoredOverload
public func == <V: RawRepresentable>(column: StorageColumn<V?>, value: V?) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .same, .value(value?.rawValue.storageValue ?? .null))
}

/// True of rows whose column is NULL or differs from the raw value of a case; if the value is nil, of rows whose column isn't
/// NULL.
@_disfavoredOverload
public func != <V: RawRepresentable>(column: StorageColumn<V?>, value: V?) -> RowPredicate
where V.RawValue: StorageColumnValue {
    .comparison(column: column.name, .different, .value(value?.rawValue.storageValue ?? .null))
}
