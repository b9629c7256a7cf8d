public import GRDB

/// One state of the store, as the body of ``Storage/readTransaction(_:)`` gets it: see ``TransactionReader`` for what it reads.
///
/// Not `Sendable`: it is valid inside the body only.
public struct ReadTransaction: TransactionReader {
    /// The connection of the transaction, for SQL and records of your own. It can only read.
    public let database: GRDB.Database
    let searchIndexes: SearchIndexes
}
