/// Makes a struct storable: writes its `…Record` companion and registers the entity.
///
/// ```swift
/// @StorageEntity
/// struct User {
///     var id: String
///     var name: String
///     var age: Int?
/// }
/// ```
///
/// The table is the struct's name in lower case with an `s`, unless `table` names another. Every stored property is a
/// column; `updatedAt` is added and moves only when another column changes.
///
/// - Parameter table: The table's name; a string literal.
@attached(extension, conformances: RegisteredEntity, names: named(Record))
@attached(peer, names: suffixed(Record))
public macro StorageEntity(table: String? = nil) =
    #externalMacro(module: "StorageMacros", type: "StorageEntityMacro")
