internal import GRDB
internal import StorageCore
internal import StorageEntities

/// Finds out whether single rows match a query, regardless of its limit, as seen by a transaction.
struct QueryMembership {
    /// The key is the last of its values.
    private let text: QuerySQL.Text?

    init<E: RegisteredEntity>(_ request: QueryRequest<E>, _ table: EntityTable<E.Record>) throws {
        guard let predicate = request.rows.predicate else {
            text = nil
            return
        }
        let key = RowPredicate.comparison(column: table.keyColumn, .equal, .value(.null))
        text = try QuerySQL(RowRequest(predicate: .all([predicate, key])), of: table.queryTable).aggregate("1")
    }

    func contains(_ key: StorageValue, _ db: Database) throws -> Bool {
        guard var text, !text.values.isEmpty else { return true }
        text.values[text.values.count - 1] = key
        return try text.value(db) != .null
    }
}
