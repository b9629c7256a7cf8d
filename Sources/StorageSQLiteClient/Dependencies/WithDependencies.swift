/// Gives dependencies to an operation, and to all that it calls.
///
/// ```swift
/// try withDependencies {
///     $0.defaultDatabase = try DatabaseQueue()
/// } operation: {
///     …
/// }
/// ```
///
/// Tasks that the operation starts with `Task {}`, and child tasks, have them too; detached ones don't.
public func withDependencies<Result>(
    _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result {
    var values = DependencyValues.current
    try update(&values)
    return try DependencyValues.$current.withValue(values, operation: operation)
}

/// Gives dependencies to an asynchronous operation, and to all that it calls.
public func withDependencies<Result>(
    isolation: isolated (any Actor)? = #isolation, _ update: (inout DependencyValues) async throws -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    var values = DependencyValues.current
    try await update(&values)
    return try await DependencyValues.$current.withValue(values, operation: operation)
}

/// Gives dependencies to the whole process: what a program says where it begins.
///
/// ```swift
/// try prepareDependencies {
///     $0.defaultDatabase = try DatabaseQueue()
/// }
/// ```
///
/// Whoever asks later finds them, unless a `withDependencies` around it says otherwise. Preparing the same dependency again
/// replaces it.
public func prepareDependencies(_ update: (inout DependencyValues) throws -> Void) rethrows {
    var values = DependencyValues()
    try update(&values)
    DependencyValues.prepare(values)
}

/// Gives dependencies to the whole process that take time to be made, such as connections.
public func prepareDependencies(
    isolation: isolated (any Actor)? = #isolation, _ update: (inout DependencyValues) async throws -> Void
) async rethrows {
    var values = DependencyValues()
    try await update(&values)
    DependencyValues.prepare(values)
}
