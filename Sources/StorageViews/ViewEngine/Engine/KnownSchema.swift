internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// The entities and full-text indexes of a store, as they were when they were looked at.
struct KnownSchema {
    private let catalog: Catalog
    private let fullTexts: [UInt32: FullTextIndex]
    /// The statements that make the views.
    private let views: [SchemaStatement]
    /// -1 before they were looked at.
    private let version: Int32
    private let tables: Int

    init() { (catalog, fullTexts, views, version, tables) = (Catalog(), [:], [], -1, -1) }

    init(_ state: FeedState) throws {
        version = try state.rows.schemaVersion()
        tables = state.tables
        catalog = try Catalog.load(state.log)
        fullTexts = Dictionary(
            uniqueKeysWithValues: try FullTextIndex.load(state.log).map { ($0.entity, $0) })
        let select = try PreparedStatement(state.log, "SELECT name, sql FROM sqlite_schema WHERE type = 'view'")
        var views: [SchemaStatement] = []
        while try select.step() {
            // Without a view whose text isn't sound, a condition that reads it counts as one that reads every table.
            let view = try? SchemaStatement(select.string(1), creating: .view, named: select.string(0))
            if let view { views.append(view) }
        }
        self.views = views
    }

    var isKnown: Bool { version >= 0 }

    func isCurrent(_ state: FeedState) throws -> Bool {
        try state.tables == tables && state.rows.schemaVersion() == version
    }

    func entity(named name: String) -> CatalogEntity? { catalog.entity(named: name) }

    func fullText(of entity: UInt32) -> FullTextIndex? { fullTexts[entity] }

    /// Whether the entity with this id has the same name, columns and texts in the same tables as in another schema.
    func hasSame(_ id: UInt32, as other: KnownSchema) -> Bool {
        guard tables == other.tables, let entity = catalog.entity(id: id) else { return false }
        return entity == other.catalog.entity(id: id) && fullTexts[id] == other.fullTexts[id]
    }

    func hasSameViews(as other: KnownSchema) -> Bool { views == other.views }
}

// MARK: Conditions in SQL

extension KnownSchema {
    /// Returns the interests, and one for each table that their conditions in SQL read: a change of it may change the
    /// condition's result for any row.
    func addingReadTables(to interests: [Interest]) -> [Interest] {
        var names: Set<String> = []
        var searched: Set<String> = []
        for interest in interests {
            for sql in interest.predicate.sqlReadingTables {
                guard let read = tables(readBy: sql, of: interest.entity) else {
                    names.formUnion(catalog.live.map(\.name))
                    continue
                }
                names.formUnion(read.names + read.searched)
                searched.formUnion(read.searched)
            }
        }
        return interests + names.sorted().map { .readBySQL($0, searches: searched.contains($0)) }
    }

    /// The tables that a condition on the rows of an entity reads in addition to the row.
    ///
    /// - Returns: Nil if unknown: the condition reads a table that isn't an entity's, or calls a function that only the
    ///   store's connections have.
    private func tables(readBy sql: String, of name: String) -> ReferencedTables? {
        guard let entity = catalog.entity(named: name) else { return nil }
        let columns = entity.live.map { "? AS \(quoted($0.stored))" }.joined(separator: ", ")
        // A row of parameters, so that the entity's own table counts only where it is read beside the row. It has no rowid.
        let rows = ["(SELECT \(columns)) AS \(quoted(entity.stored))", quoted(entity.stored)]
        return rows.lazy.compactMap { row in
            try? ReferencedTables(
                of: "SELECT 1 FROM \(row) WHERE (\(sql))", in: catalog, indexes: Array(fullTexts.values), views: views)
        }.first
    }
}
