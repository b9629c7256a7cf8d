/// Makes a struct storable: generates its `…Record` companion and makes it a `RegisteredEntity`.
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
/// The table's name is the struct's in lower case with an `s`, unless `table` gives another. Every stored property is a column.
/// A column `updatedAt` is added, which changes only when another column does.
///
/// - Parameter table: The table's name; a string literal.
@attached(extension, conformances: RegisteredEntity, names: named(Record))
@attached(peer, names: suffixed(Record))
public macro StorageEntity(table: String? = nil) =
    #externalMacro(module: "StorageMacros", type: "StorageEntityMacro")
