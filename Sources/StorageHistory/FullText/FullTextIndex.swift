internal import Foundation
internal import StorageCore
package import StorageLog

/// The definition of one full-text index: the columns of an entity, and how they are tokenized.
///
/// Entity and columns are stored by their catalog ids, so that renaming them doesn't change the index.
package struct FullTextIndex: Sendable, Equatable, Codable {
    package var entity: UInt32
    package var columns: [UInt32]
    package var tokenizer: String
    /// Lengths of the prefixes that have an index of their own.
    package var prefixes: [Int]

    package init(entity: UInt32, columns: [UInt32], tokenizer: String, prefixes: [Int]) {
        self.entity = entity
        self.columns = columns
        self.tokenizer = tokenizer
        self.prefixes = prefixes
    }

    /// The FTS5 table.
    package var table: String { "storage_fts_\(entity)" }
    /// The index's name among the store's projections.
    package var name: String { "full-text/\(entity)" }
    /// The tables that FTS5 creates for itself.
    package var shadowTables: [String] { ["data", "idx", "docsize", "config"].map { "\(table)_\($0)" } }

    /// The statement that creates the FTS5 table for an entity with its current names.
    ///
    /// - Throws: An error if the entity or one of the columns doesn't exist.
    package func sql(_ catalog: Catalog) throws -> String {
        guard let entity = catalog.entity(id: entity), !entity.isDropped else {
            throw StorageError.corruptLog("a full-text index belongs to entity \(entity), which isn't there")
        }
        return try sql(named: quoted(table), content: entity.stored, rowid: entity.rowid, catalog)
    }

    package func sql(named name: String, content: String, rowid: String, _ catalog: Catalog) throws -> String {
        var options = try storedColumns(catalog).map(quoted)
        options.append("content=\(content.quotedAsText)")
        options.append("content_rowid=\(rowid.quotedAsText)")
        options.append("tokenize=\(tokenizer.quotedAsText)")
        if !prefixes.isEmpty {
            options.append("prefix=\(prefixes.map(String.init).joined(separator: " ").quotedAsText)")
        }
        return "CREATE VIRTUAL TABLE \(name) USING fts5(\(options.joined(separator: ", ")))"
    }

    /// The columns as the entity's table names them.
    package func storedColumns(_ catalog: Catalog) throws -> [String] {
        try columns.map { id in
            guard let column = catalog.column(id: id), !column.isDropped else {
                throw StorageError.corruptLog("the full-text index of entity \(entity) names a column that isn't there")
            }
            return column.stored
        }
    }

    /// A readable description of the index, for plans.
    package func summary(_ catalog: Catalog) -> String {
        let names = columns.map { "\"\(catalog.column(id: $0)?.name ?? "")\"" }.joined(separator: ", ")
        return "\"\(catalog.entity(id: entity)?.name ?? "")\" (\(names); \(tokenizer))"
    }

    /// Whether another program has hidden every name of the table's rowid, so that the index can't be made before the table is rebuilt.
    package func lacksRowid(_ catalog: Catalog) -> Bool {
        guard let entity = catalog.entity(id: entity), !entity.isDropped else { return false }
        return entity.rowidName == nil
    }

    /// Whether the store has the index as it was declared: its tables, and the settings that FTS5 keeps in them. Nothing else of
    /// its content is read.
    package func isIntact(_ catalog: Catalog, _ database: Connection) throws -> Bool {
        guard !lacksRowid(catalog) else { return false }
        let expected = try sql(catalog)
        do {
            let select = try PreparedStatement(
                database,
                """
                SELECT sql, (SELECT count(*) FROM sqlite_schema WHERE name IN (\(shadowTables.map(\.quotedAsText).joined(separator: ", "))))
                FROM sqlite_schema WHERE name = ?1
                """)
            select.bind(text: table, at: 1)
            guard try select.step(), select.string(0) == expected, select.integer(1) == Int64(shadowTables.count)
            else { return false }
            // FTS5 reads its settings when it prepares a statement, and refuses those of a version that it doesn't know.
            _ = try PreparedStatement(database, "SELECT rowid FROM \(quoted(table))")
            return try !PreparedStatement(
                database, "SELECT 1 FROM \(quoted("\(table)_config")) WHERE k <> 'version'"
            ).step()
        } catch let error as StorageError where !error.isOfTheMachine {
            return false
        }
    }

    /// Every index of a store.
    package static func load(_ database: Connection) throws -> [FullTextIndex] {
        let select = try PreparedStatement(
            database, "SELECT name, definition FROM storage_projection WHERE kind = 'full-text' ORDER BY name")
        var indexes: [FullTextIndex] = []
        while try select.step() {
            let name = select.string(0)
            do {
                let index = try JSONDecoder().decode(FullTextIndex.self, from: Data(select.string(1).utf8))
                guard index.name == name else { throw StorageError.corruptLog("it belongs to another entity") }
                indexes.append(index)
            } catch {
                throw StorageError.corruptLog("the definition of the projection \(name) can't be read: \(error)")
            }
        }
        return indexes
    }
}
