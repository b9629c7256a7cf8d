/// Sets dependencies for an operation, and for everything it calls.
///
/// ```swift
/// try withDependencies {
///     $0.defaultDatabase = try DatabaseQueue()
/// } operation: {
///     …
/// }
/// ```
///
/// Tasks that the operation starts with `Task {}`, and child tasks, inherit them; detached ones don't.
public func withDependencies<Result>(
    _ update: (inout DependencyValues) throws -> Void, operation: () throws -> Result
) rethrows -> Result {
    var values = DependencyValues.current
    try update(&values)
    return try DependencyValues.$current.withValue(values, operation: operation)
}

/// Sets dependencies for an asynchronous operation, and for everything it calls.
public func withDependencies<Result>(
    isolation: isolated (any Actor)? = #isolation, _ update: (inout DependencyValues) async throws -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    var values = DependencyValues.current
    try await update(&values)
    return try await DependencyValues.$current.withValue(values, operation: operation)
}

/// Sets dependencies for the whole process, at program start.
///
/// ```swift
/// try prepareDependencies {
///     $0.defaultDatabase = try DatabaseQueue()
/// }
/// ```
///
/// They apply unless a `withDependencies` overrides them. Preparing a dependency again replaces it.
public func prepareDependencies(_ update: (inout DependencyValues) throws -> Void) rethrows {
    var values = DependencyValues()
    try update(&values)
    DependencyValues.prepare(values)
}

/// Sets dependencies that are created asynchronously, such as connections, for the whole process.
public func prepareDependencies(
    isolation: isolated (any Actor)? = #isolation, _ update: (inout DependencyValues) async throws -> Void
) async rethrows {
    var values = DependencyValues()
    try await update(&values)
    DependencyValues.prepare(values)
}
