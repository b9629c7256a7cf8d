/// A dependency as a property, or as a variable in a function.
///
/// ```swift
/// struct Importer {
///     @Dependency(\.sqliteClient) var client
///
///     func run() async throws {
///         try await client.write { db in try db.execute("DELETE FROM users") }
///     }
/// }
/// ```
///
/// Its value is asked for at each access. Where the property was made inside of `withDependencies`, what was given there stays
/// with it, also when it is used elsewhere; what is given around the access comes first.
@propertyWrapper
public struct Dependency<Value: Sendable>: Sendable {
    private let values: DependencyValues
    private let read: @Sendable (DependencyValues) -> Value

    public init(_ keyPath: any KeyPath<DependencyValues, Value> & Sendable) {
        values = .current
        read = { $0[keyPath: keyPath] }
    }

    public init<Key: DependencyKey>(_ key: Key.Type) where Key.Value == Value {
        values = .current
        read = { $0[Key.self] }
    }

    public var wrappedValue: Value { read(values.merging(.current)) }
}
