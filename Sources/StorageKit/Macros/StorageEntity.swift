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
/// Rows that are older than a property get its initial value if it is constant: a literal, an operation on literals, or a static member
/// of the property's type, such as `.open` or `Status.open`. The macro can't distinguish a case from a computed static property,
/// such as `InviteCode.random`, which is taken as constant too: all of these rows get the value that it has when the column is added.
///
/// - Parameter table: The table's name; a string literal.
@attached(extension, conformances: RegisteredEntity, names: named(Record))
@attached(peer, names: suffixed(Record))
public macro StorageEntity(table: String? = nil) =
    #externalMacro(module: "StorageMacros", type: "StorageEntityMacro")
