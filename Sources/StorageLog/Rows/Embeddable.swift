/// A value whose properties are columns of the entity that holds it.
///
/// ```swift
/// struct Address: Embeddable {
///     var street: String
///     var city: String
/// }
///
/// @StorageEntity
/// struct User {
///     var id: String
///     @StorageEmbedded(prefix: "home_") var home: Address
/// }
/// ```
///
/// The columns are determined once, from the type's `Codable` conformance: it must decode its properties by name, each of a type
/// that fills a column, and none of them embedded itself. An enum among them must be `CaseIterable` unless it is optional. A type
/// whose columns can't be determined is refused when the store is opened, with the reason.
///
/// A property that is added to the type later holds `''`, `0` or an empty blob in earlier rows; where an optional embedded value
/// is nil, it stays nil.
public protocol Embeddable: Codable, Sendable, Equatable {}
