/// A request for ``Fetch``: several queries as one value, from a single state of the database.
///
/// ```swift
/// struct Dashboard: FetchKeyRequest {
///     struct Value: Sendable { var users = 0, posts = 0 }
///
///     func fetch(_ db: SQLiteTransaction) throws -> Value {
///         Value(
///             users: try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0,
///             posts: try db.fetchOne("SELECT count(*) FROM posts", as: Int.self) ?? 0)
///     }
/// }
///
/// @Fetch(Dashboard()) var dashboard = Dashboard.Value()
/// ```
///
/// With the GRDB engine, `fetch` may take GRDB's `Database` instead of ``SQLiteTransaction``; it then runs after each
/// commit.
public protocol FetchKeyRequest<Value>: Hashable, Sendable {
    /// The type of the result.
    associatedtype Value: Sendable
    /// The type that the request reads from.
    associatedtype Connection: FetchConnection = SQLiteTransaction
    /// Reads the value. Runs after each change of a table that it reads.
    ///
    /// - Throws: Any error, which becomes the fetch's ``FetchState/loadError``.
    func fetch(_ db: Connection) throws -> Value
}

/// What a request reads from: ``SQLiteTransaction``, or GRDB's `Database`.
public protocol FetchConnection {
    /// Returns the connection of a transaction.
    ///
    /// - Throws: ``SQLiteClientError`` with `invalid-argument` if the client uses another engine.
    static func connection(of transaction: SQLiteTransaction) throws -> Self
}

extension SQLiteTransaction: FetchConnection {
    /// Returns the transaction itself.
    public static func connection(of transaction: SQLiteTransaction) -> SQLiteTransaction { transaction }
}
