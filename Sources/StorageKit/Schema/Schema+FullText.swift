internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

extension Schema {
    /// Creates a full-text index over columns of an entity, or recreates it if its definition has changed. Every later commit
    /// updates the index, so searches find what was saved immediately.
    ///
    /// ```swift
    /// schema.autoSchema(ArticleRecord.self)
    /// schema.addFullTextSearch(table: "articles", columns: ["title", "content"], tokenizer: "unicode61")
    /// ```
    ///
    /// - Parameters:
    ///   - table: The entity's table, which must be declared before.
    ///   - columns: The columns to search; `snippetColumn` counts them in this order.
    ///   - tokenizer: `porter` (English stems), `unicode61`, `ascii` or `trigram` (any three letters), with options
    ///     that FTS5 knows, such as `unicode61 remove_diacritics 2`.
    ///   - prefixes: The lengths of prefixes to index, in characters, which makes `word*` faster.
    public mutating func addFullTextSearch(
        table: String, columns: [String], tokenizer: String = "porter", prefixes: [Int] = []
    ) {
        addStep("full-text search of \(table)") { tx in
            let writer = tx.writer
            guard let entity = writer.catalog.entity(named: table) else {
                throw StorageError(
                    .schemaMismatch, "There is no entity \"\(table)\" to search.",
                    remedy:
                        "Steps run in the order in which they are declared: put autoSchema before addFullTextSearch.")
            }
            let ids = try columns.map { name in
                if let column = entity.column(named: name) { return column.id }
                throw StorageError(
                    .schemaMismatch, "\"\(table)\" has no column \"\(name)\" to search.",
                    remedy: "It has \(entity.live.map(\.name).joined(separator: ", ")).")
            }
            guard !ids.isEmpty, Set(ids).count == ids.count else {
                throw StorageError(
                    .schemaMismatch, "The full-text index of \"\(table)\" names no column, or one twice.",
                    remedy: "Name each column that is to be searched once.")
            }
            let index = FullTextIndex(entity: entity.id, columns: ids, tokenizer: tokenizer, prefixes: prefixes)
            try writer.fullText { try $0.declare(index, in: writer) }
        }
    }

    /// Drops an entity's full-text index; does nothing if there is none.
    ///
    /// ```swift
    /// schema.dropFullTextSearch(table: "articles")
    /// ```
    public mutating func dropFullTextSearch(table: String) {
        addStep("no full-text search of \(table)") { tx in
            guard let entity = tx.writer.catalog.entity(named: table) else { return }
            try tx.writer.fullText { try $0.drop(entity: entity.id, in: tx.writer) }
        }
    }
}

extension LogWriter {
    fileprivate func fullText(_ body: (FullTextProjection) throws -> Void) throws {
        for case let projection as FullTextProjection in projections { try asEngine { try body(projection) } }
    }
}
