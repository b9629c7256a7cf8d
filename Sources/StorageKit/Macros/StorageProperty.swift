public import StorageCore

/// Stores a property of any `Codable` type as JSON text in one column.
///
/// Queries can't search JSON: store values to search for in columns of their own. Keys are sorted, so equal values give equal
/// text (except for a `Set`, which has no fixed order); dates are ISO 8601 with full fractional seconds.
@attached(peer)
public macro StorageJSON() = #externalMacro(module: "StorageMacros", type: "StorageRoleMacro")

/// Stores the properties of an `Embeddable` value as columns of the entity that contains it.
///
/// - Parameter prefix: The prefix of the columns' names; the property's name and `_` if nil.
@attached(peer)
public macro StorageEmbedded(prefix: String? = nil) =
    #externalMacro(
        module: "StorageMacros", type: "StorageRoleMacro")

/// Marks a property for the rows of another entity that refer to this one. The property isn't stored and is empty in entities
/// that are read; `loadChildren(of:_:)` of ``EntityReader`` loads it.
///
/// - Parameter foreignKey: The other entity's column that holds this one's id.
@attached(peer)
public macro StorageHasMany(foreignKey: String) =
    #externalMacro(module: "StorageMacros", type: "StorageRoleMacro")

/// Marks a property for the row that a column of this entity refers to. The property isn't stored and is nil in entities that
/// are read; ``EntityReader/loadParent(_:id:)`` loads it.
///
/// - Parameters:
///   - foreignKey: The property of this entity that holds the other's id; this property's name and `Id` if nil.
///   - onDelete: What happens to this row when the referenced one is deleted. If given, the database also ensures that the
///     referenced row exists. It applies to tables that are created later; change an existing table with a migration.
@attached(peer)
public macro StorageBelongsTo(foreignKey: String? = nil, onDelete: StorageDeleteRule? = nil) =
    #externalMacro(
        module: "StorageMacros", type: "StorageRoleMacro")
