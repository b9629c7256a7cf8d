public import GRDB
internal import StorageCore
internal import StorageLog

/// The store's connections, for SQL of your own.
///
/// What ``write(_:)`` changes in entity tables is captured and is one commit, with the task's actor and correlation, like any
/// other write; the file's lock can't be bypassed, because there is no way to the writer but this.
public actor DatabaseActor {
    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    /// Reads one state of the store.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.read(body) }

    /// Changes the store: all of it, or, if `body` throws, nothing.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.writing { try body($0.database) } }
}

extension Storage {
    /// Makes a commit and hands on what its body answers.
    package func writing<Result: Sendable>(
        actor: String? = nil, reason: String? = nil, correlation: String? = nil, attributes: [String: String] = [:],
        _ body: @escaping @Sendable (WriteTransaction) throws -> Result
    ) async throws -> Result {
        let outcome = Outcome<Result>()
        try await write(actor: actor, reason: reason, correlation: correlation, attributes: attributes) {
            outcome.value = try body($0)
        }
        guard let value = outcome.value else { throw StorageError.closed() }
        return value
    }
}

/// Carries what a commit's body answers out of it.
private final class Outcome<Value>: @unchecked Sendable {
    // Sound: written once in the commit's body, which has returned before anybody reads it.
    var value: Value?
}
