public import StorageCore

/// A typed column by its name, where no property stands for it: `Column<String>("home_city") == "Kyiv"`.
///
/// In a file that imports GRDB as well, write ``StorageColumn``, or `StorageKit.Column`.
public typealias Column<Value> = StorageColumn<Value>
