public import GRDB

/// One state of the store, which the body of ``Storage/readTransaction(_:)`` reads with the calls of ``TransactionReader``.
///
/// ```swift
/// let (count, first) = try await storage.readTransaction { tx in
///     (try tx.count(User.self), try tx.query(User.self).orderBy(\.name).fetchOne())
/// }
/// ```
///
/// Not `Sendable`: it is valid only inside the body.
public struct ReadTransaction: TransactionReader {
    /// The connection of the transaction, for SQL and records of your own. It can only read.
    public let database: GRDB.Database
    let searchIndexes: SearchIndexes
}
