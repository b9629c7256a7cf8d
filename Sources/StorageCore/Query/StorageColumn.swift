/// A column of an entity with the Swift type of its values, to build conditions from.
///
/// In a query's closure the entity's columns are available by name; create a column that has no property of its own by hand:
/// `Column<String>("home_city") == "Kyiv"`.
public struct StorageColumn<Value>: Sendable, Hashable {
    /// The column's name in the entity's table.
    public let name: String

    /// Creates a reference to a column by its name.
    public init(_ name: String) { self.name = name }
}
