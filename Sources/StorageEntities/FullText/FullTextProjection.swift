internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Keeps the full-text indexes consistent with their entities, from the net changes of each commit.
///
/// An index is an FTS5 table with external content: it stores words and their positions, and reads texts from the
/// entity's table. To remove a row, FTS5 needs the row's old texts, which the events contain.
package final class FullTextProjection: InlineProjection {
    private var indexes: [UInt32: FullTextIndexWriter] = [:]

    package init(_ writer: LogWriter) throws { try reload(from: writer) }

    package func reload(from writer: LogWriter) throws {
        indexes = [:]
        for index in try FullTextIndex.load(writer.database) {
            indexes[index.entity] = try FullTextIndexWriter(index, writer)
        }
    }

    package func apply(
        _ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter
    ) throws {
        for (entity, feed) in indexes {
            // An index that was made since the commit began shows its changes.
            let fresh = events.clamped(to: min(feed.shownEvents, events.upperBound)..<events.upperBound)
            let changes = fresh.lazy.filter { view.shape(of: $0).entity == entity }
            var documents = 0
            do {
                for (row, changes) in changes.grouped(by: { view.events[$0].rowid }) {
                    documents += try feed.apply(changes, row: row, of: view) ? 1 : 0
                }
                try feed.settle(after: documents, in: writer)
                // Here, so that a damaged index isn't reported as the error of a projection.
                if documents > 0, writer.projections.contains(where: \.maySetSavepoints) {
                    try writer.flushFullTextIndexes()
                }
            } catch let error as StorageError where error.isOfVirtualTable {
                throw StorageError.fullTextDamaged(of: writer.catalog.entity(id: entity)?.name ?? "", error)
            }
        }
    }

    package func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws {
        for (entity, feed) in indexes {
            // An index is dropped if one of its columns is: it is derived, and another one can be declared.
            let isWhole = feed.index.columns.allSatisfy { writer.catalog.column(id: $0)?.isDropped == false }
            guard let known = writer.catalog.entity(id: entity), !known.isDropped, isWhole else {
                try drop(feed.index, writer)
                continue
            }
            if try !feed.index.lacksRowid(writer.catalog) && feed.sql != feed.index.sql(writer.catalog) {
                try drop(feed.index, writer)
                try make(feed.index, writer)
            } else if renumbered.contains(entity) {
                try feed.rebuild(in: writer)
            }
        }
    }

    /// Creates an index, or recreates it if its declaration has changed; does nothing if it exists unchanged.
    package func declare(_ index: FullTextIndex, in writer: LogWriter) throws {
        if let known = indexes[index.entity]?.index {
            guard known != index else { return }
            try drop(known, writer)
        }
        try make(index, writer)
    }

    /// Takes an entity's index away.
    package func drop(entity: UInt32, in writer: LogWriter) throws {
        if let feed = indexes[entity] { try drop(feed.index, writer) }
    }

    private func make(_ index: FullTextIndex, _ writer: LogWriter) throws {
        let feed: FullTextIndexWriter
        do {
            feed = try Self.create(index, writer)
        } catch let error as StorageError where error.code == .database {
            throw StorageError(
                .schemaMismatch, "The full-text index can't be made: \(error.message)",
                remedy:
                    "Check the tokenizer \"\(index.tokenizer)\" and the prefixes; SQLite knows porter, unicode61, ascii and trigram.",
                cause: error)
        }
        let insert = try writer.statement(
            "INSERT INTO storage_projection(name, kind, version, definition) VALUES (?1, 'full-text', 1, ?2)")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        insert.bind(text: index.name, at: 1)
        insert.bind(text: String(decoding: try encoder.encode(index), as: UTF8.self), at: 2)
        try insert.execute()
        try feed.rebuild(in: writer)
        indexes[index.entity] = feed
    }

    /// Creates an empty index.
    private static func create(_ index: FullTextIndex, _ writer: LogWriter) throws -> FullTextIndexWriter {
        try PreparedStatement(writer.database, try index.sql(writer.catalog)).execute()
        return try FullTextIndexWriter(index, writer)
    }

    private func drop(_ index: FullTextIndex, _ writer: LogWriter) throws {
        indexes[index.entity] = nil
        try Self.discard(index, writer)
        let delete = try writer.statement("DELETE FROM storage_projection WHERE name = ?1")
        delete.bind(text: index.name, at: 1)
        try delete.execute()
    }

    /// Drops an index, in whatever state another program has left it.
    private static func discard(_ index: FullTextIndex, _ writer: LogWriter) throws {
        let database = writer.database
        do {
            try PreparedStatement(database, "DROP TABLE IF EXISTS \(quoted(index.table))").execute()
        } catch let error as StorageError where !error.isOfTheMachine {
            // FTS5 doesn't read an index without its own tables and settings, and SQLite has it drop only what it reads.
            storage_set_defensive(database.handle, 0)
            defer { storage_set_defensive(database.handle, 1) }
            try PreparedStatement(database, "PRAGMA writable_schema = ON").execute()
            defer { _ = try? PreparedStatement(database, "PRAGMA writable_schema = RESET").execute() }
            let delete = try PreparedStatement(database, "DELETE FROM sqlite_schema WHERE name = ?1")
            delete.bind(text: index.table, at: 1)
            try delete.execute()
        }
        for table in index.shadowTables {
            try PreparedStatement(database, "DROP TABLE IF EXISTS \(quoted(table))").execute()
        }
    }

    /// Makes the indexes of these entities again from their tables: another program may have changed the indexes themselves.
    package func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws {
        for entity in entities {
            guard let index = indexes.removeValue(forKey: entity.id)?.index else { continue }
            indexes[index.entity] = try Self.remake(index, writer)
        }
    }

    @discardableResult
    private static func remake(_ index: FullTextIndex, _ writer: LogWriter) throws -> FullTextIndexWriter {
        try discard(index, writer)
        let feed = try create(index, writer)
        try feed.rebuild(in: writer)
        return feed
    }

    /// The indexes that another program has dropped or declared otherwise, so that commits can't keep them, and that can be made
    /// from their tables.
    package static func damaged(in writer: LogWriter) throws -> [FullTextIndex] {
        try FullTextIndex.load(writer.database).filter { index in
            try !index.lacksRowid(writer.catalog) && !index.isIntact(writer.catalog, writer.database)
        }
    }

    /// Makes damaged indexes again from their tables, and those of some entities; for opening a store.
    package static func remake(
        _ damaged: [FullTextIndex], andOf entities: [CatalogEntity], in writer: LogWriter
    ) throws {
        for index in try FullTextIndex.load(writer.database)
        where damaged.contains(index) || entities.contains(where: { $0.id == index.entity }) {
            try remake(index, writer)
        }
    }

    package func committed(in writer: LogWriter) { for feed in indexes.values { feed.shownEvents = 0 } }
}

extension StorageError {
    fileprivate static func fullTextDamaged(of table: String, _ cause: StorageError) -> StorageError {
        var error = StorageError(
            .corrupt,
            "The full-text index of \"\(table)\" differs from its table: another program has changed it, or its pages are damaged. Nothing of this commit was kept.",
            remedy:
                "Make the index again from its table: storagekit rebuild \([table].quotedAsOperands). Whether pages are damaged: storagekit verify",
            cause: cause)
        error.isOfVirtualTable = true
        return error
    }
}
