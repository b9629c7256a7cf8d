internal import GRDB
internal import StorageCore
internal import StorageLog

extension Storage {
    /// Returns the name of the FTS5 table of an entity's full-text index, for SQL of your own. Its rows have the same rowids as
    /// the entity's table; its columns are the indexed ones, in their order.
    ///
    /// ```swift
    /// let index = try await storage.fullTextTable(of: Article.self)
    /// let titles = try await storage.read { db in
    ///     try String.fetchAll(
    ///         db,
    ///         sql: """
    ///             SELECT title FROM articles JOIN "\(index)" ON "\(index)".rowid = articles.rowid
    ///             WHERE "\(index)" MATCH ?
    ///             """, arguments: ["swift NEAR concurrency"])
    /// }
    /// ```
    ///
    /// The name stays the same for the life of the entity, even if its table or columns are renamed. Statements that write to
    /// the index are refused.
    ///
    /// - Throws: ``StorageError`` with `not-found` if the entity has no full-text index.
    public func fullTextTable<E: RegisteredEntity>(of type: E.Type) async throws -> String {
        let name = E.Record.databaseTableName
        return try await read { db in
            let connection = try db.connection
            let entity = try Catalog.load(connection).entity(named: name)
            if let index = try FullTextIndex.load(connection).first(where: { $0.entity == entity?.id }) {
                return index.table
            }
            throw StorageError(
                .notFound, "\"\(name)\" has no full-text index.",
                remedy:
                    "Declare one with schema.addFullTextSearch(table: \"\(name)\", columns: […]) after its autoSchema.")
        }
    }
}
