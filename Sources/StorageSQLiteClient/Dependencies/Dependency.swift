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
/// Its value is looked up on each access. If the property was created inside `withDependencies`, it keeps the values
/// set there, even when it is used elsewhere; values set around the access take precedence.
@propertyWrapper
public struct Dependency<Value: Sendable>: Sendable {
    private let values: DependencyValues
    private let read: @Sendable (DependencyValues) -> Value

    /// Creates a property for the dependency at a key path.
    public init(_ keyPath: any KeyPath<DependencyValues, Value> & Sendable) {
        values = .current
        read = { $0[keyPath: keyPath] }
    }

    public init<Key: DependencyKey>(_ key: Key.Type) where Key.Value == Value {
        values = .current
        read = { $0[Key.self] }
    }

    /// The current value of the dependency.
    public var wrappedValue: Value { read(values.merging(.current)) }
}
