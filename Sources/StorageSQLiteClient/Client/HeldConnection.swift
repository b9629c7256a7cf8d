/// A connection that an engine lends to an asynchronous body without blocking a thread.
///
/// An engine whose transactions don't need a thread of their own provides one with ``SQLiteClient/holding``.
package protocol HeldConnection: Sendable {
    /// Runs a part of the body in the transaction; if it throws, only that part is rolled back.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result
    /// Lends the connection to a nested body, which is rolled back separately if the closure throws.
    func nested(_ body: @escaping @Sendable (any HeldConnection) async throws -> Void) async throws
    /// Runs the body, so that its task finds this connection, and calls that would wait for it are refused.
    func scoped<Result>(
        isolation: isolated (any Actor)?, _ body: () async throws -> Result
    ) async throws -> Result
}
