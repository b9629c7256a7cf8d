/// Something that ``Fetch`` reads: several queries as one value, of one state of the database.
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
/// `fetch` may take GRDB's `Database` in place of ``SQLiteTransaction`` where the engine is GRDB's; it then runs after each
/// commit.
public protocol FetchKeyRequest<Value>: Hashable, Sendable {
    associatedtype Value: Sendable
    associatedtype Connection: FetchConnection = SQLiteTransaction
    /// Reads the value. Runs after each change of a table that it reads.
    func fetch(_ db: Connection) throws -> Value
}

/// What a request reads from: ``SQLiteTransaction``, or GRDB's `Database`.
public protocol FetchConnection {
    /// - Throws: ``SQLiteClientError`` with `invalid-argument` where the client's engine is another one.
    static func connection(of transaction: SQLiteTransaction) throws -> Self
}

extension SQLiteTransaction: FetchConnection {
    public static func connection(of transaction: SQLiteTransaction) -> SQLiteTransaction { transaction }
}
