/// The connection that an engine lends to a body that may wait: no thread is held meanwhile.
///
/// An engine whose transactions don't need a thread of their own gives one to ``SQLiteClient/holding``.
package protocol HeldConnection: Sendable {
    /// Runs a part of the body in the transaction; where it throws, what it did is undone by itself.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result
    /// Lends the connection to a body inside of the body, which is undone by itself where the closure throws.
    func nested(_ body: @escaping @Sendable (any HeldConnection) async throws -> Void) async throws
    /// Runs the body itself, so that its task finds this connection, and is refused those that would wait for it.
    func scoped<Result>(
        isolation: isolated (any Actor)?, _ body: () async throws -> Result
    ) async throws -> Result
}
