/// A column of an entity, with the Swift type of its values; conditions are built from it.
///
/// ```swift
/// let title = StorageColumn<String>("title")
/// let tasks = try await storage.query(Task.self).where(title.hasPrefix("Call")).fetch()
/// ```
///
/// A query's closure offers the entity's columns by name. For a column without a property of its own, write its name:
/// `Column<String>("home_city") == "Kyiv"`.
public struct StorageColumn<Value>: Sendable, Hashable {
    /// The column's name in the entity's table.
    public let name: String

    /// Creates a reference to a column by its name.
    public init(_ name: String) { self.name = name }
}
