internal import Foundation
internal import StorageCore
public import StorageEntities
internal import StorageLog

/// A query inside of a transaction; see ``Query``. Like its transaction it is valid in the body only.
public struct TransactionQuery<Entity: RegisteredEntity>: EntityQuery {
    public var request = QueryRequest<Entity>()
    private let transaction: WriteTransaction

    init(transaction: WriteTransaction) { self.transaction = transaction }

    private var run: QueryRun<Entity> { QueryRun(request: request) }

    /// Every entity that fits, with the changes of this transaction.
    public func fetch() throws -> [Entity] { try run.fetch(transaction.database) }
    /// The first entity that fits.
    public func fetchOne() throws -> Entity? { try run.fetch(transaction.database, limit: 1).first }
    /// How many entities fit.
    public func count() throws -> Int { try run.count(transaction.database) }
    /// Whether any entity fits.
    public func exists() throws -> Bool { try run.exists(transaction.database) }

    /// Deletes every entity that fits.
    @discardableResult
    public func deleteAll() throws -> Int { try run.deleteAll(transaction.database) }

    /// Changes columns of every entity that fits.
    @discardableResult
    public func updateAll(@AssignmentBuilder _ assignments: (ColumnRef<Entity>) -> [StorageAssignment]) throws -> Int {
        try update(assignments(ColumnRef()))
    }

    func update(_ assignments: [StorageAssignment]) throws -> Int {
        try run.updateAll(assignments, now: transaction.now.storageValue, transaction.database)
    }
}

extension WriteTransaction {
    func query<E: RegisteredEntity>(_ type: E.Type, _ request: QueryRequest<E>) -> TransactionQuery<E> {
        var query = query(type)
        query.request = request
        return query
    }
}
