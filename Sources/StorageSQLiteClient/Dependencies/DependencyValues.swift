internal import Synchronization

/// The dependencies of a task, by key.
///
/// ```swift
/// try await withDependencies {
///     $0.sqliteClient = .inMemory()
/// } operation: {
///     try await importer.run()
/// }
/// ```
///
/// A dependency's value is set by the nearest `withDependencies` around the task, otherwise by `prepareDependencies`
/// for the whole process, otherwise by its ``DependencyKey``.
///
/// Isolation: `Sendable`; a value.
public struct DependencyValues: Sendable {
    private var given: [ObjectIdentifier: any Sendable] = [:]

    /// Creates an empty set: each dependency has the value prepared for the process, or its key's default.
    public init() {}

    public subscript<Key: DependencyKey>(key: Key.Type) -> Key.Value {
        get { (given[ObjectIdentifier(key)] ?? Self.prepared(key)) as? Key.Value ?? Self.usual(key, in: context) }
        set { given[ObjectIdentifier(key)] = newValue }
    }

    /// Where the program runs: a test, a preview, or neither.
    public var context: DependencyContext {
        get { given[ObjectIdentifier(ContextKey.self)] as? DependencyContext ?? ContextKey.liveValue }
        set { given[ObjectIdentifier(ContextKey.self)] = newValue }
    }

    private enum ContextKey: DependencyKey {
        static let liveValue = DependencyContext.ofProcess
    }

    /// Whether a value was set or prepared for a key.
    package func holds<Key: DependencyKey>(_ key: Key.Type) -> Bool {
        given[ObjectIdentifier(key)] != nil || Self.prepared(key) != nil
    }
}

// MARK: Scopes

extension DependencyValues {
    @TaskLocal static var current = DependencyValues()

    /// These values, replaced by those of `other` where it has any.
    func merging(_ other: DependencyValues) -> DependencyValues {
        var copy = self
        copy.given.merge(other.given) { $1 }
        return copy
    }

    private struct Process {
        var prepared = DependencyValues()
        /// The default values of keys, which are created once.
        var usual: [Usual: any Sendable] = [:]
    }

    private struct Usual: Hashable {
        let key: ObjectIdentifier
        let context: DependencyContext
    }

    private static let process = Mutex(Process())

    private static func prepared<Key: DependencyKey>(_ key: Key.Type) -> (any Sendable)? {
        process.withLock { $0.prepared.given[ObjectIdentifier(key)] }
    }

    private static func usual<Key: DependencyKey>(_ key: Key.Type, in context: DependencyContext) -> Key.Value {
        let usual = Usual(key: ObjectIdentifier(key), context: context)
        if let known = process.withLock({ $0.usual[usual] }) as? Key.Value { return known }
        // Not under the lock, because the value of a key may need those of others; the first one created counts.
        let made = key.value(in: context)
        return process.withLock {
            if let known = $0.usual[usual] as? Key.Value { return known }
            $0.usual[usual] = made
            return made
        }
    }

    static func prepare(_ values: DependencyValues) {
        process.withLock { $0.prepared = $0.prepared.merging(values) }
    }
}
