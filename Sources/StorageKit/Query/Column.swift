public import StorageCore

/// A typed column by name, for a column without a property: `Column<String>("home_city") == "Kyiv"`.
///
/// In a file that imports GRDB as well, write ``StorageColumn``, or `StorageKit.Column`.
public typealias Column<Value> = StorageColumn<Value>
