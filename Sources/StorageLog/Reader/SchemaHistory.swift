internal import CSQLite
internal import StorageCore

/// Iterates over the commits that changed the schema, and returns the changes of each.
///
/// Holds the rows of the catalog as they were at the current commit; only segments with changes of the catalog are decoded. Not
/// `Sendable`: it belongs to its connection's thread.
package final class SchemaHistory {
    private let log: LogReader
    /// Rows of the catalog by their ids, grouped by the entity that they belong to.
    private var rows: [UInt32: [UInt32: CatalogRow]] = [:]
    /// The entity that each row belongs to.
    private var owners: [UInt32: UInt32] = [:]

    package init(_ log: LogReader) { self.log = log }

    /// Calls `body` with the commits that changed the schema of users' entities, until it returns false.
    ///
    /// - Parameter positions: Only commits with changes of the schema at these positions.
    package func forEachCommit(
        in positions: ClosedRange<Int64>, descending: Bool, _ body: (CommitInfo, [SchemaChange]) throws -> Bool
    ) throws {
        rows = [:]
        if descending { try loadNewest() }
        var query = LogQuery()
        query.tables = [CatalogEntity.catalog.name]
        query.descending = descending
        var open: (commit: CommitInfo, isAskedFor: Bool, before: [UInt32: [UInt32: CatalogRow]])?
        func finish() throws -> Bool {
            guard let done = open else { return true }
            open = nil
            guard done.isAskedFor else { return true }
            let touched = Dictionary(uniqueKeysWithValues: done.before.keys.map { ($0, rows[$0] ?? [:]) })
            let (old, new) = descending ? (touched, done.before) : (done.before, touched)
            let changes = SchemaChange.all(from: try Self.catalog(old), to: try Self.catalog(new))
            return try changes.isEmpty || body(done.commit, changes)
        }
        var isStopped = false
        var catalog = Catalog()
        catalog.add(.catalog)
        try log.forEachEvent(query, catalog: catalog) { batch, index, commit in
            if let known = open, known.commit.number != commit.number {
                isStopped = try !finish()
                if isStopped { return false }
            }
            let position = batch.header.first + Int64(index)
            if open == nil {
                // Commits before the requested ones have to be applied too, and each commit completely.
                if descending ? position < positions.lowerBound : position > positions.upperBound { return false }
                open = (commit, false, [:])
            }
            if positions.contains(position) { open?.isAskedFor = true }
            let entity = try entity(of: batch, index)
            if open?.before[entity] == nil { open?.before[entity] = rows[entity] ?? [:] }
            apply(batch, index, to: entity, isBackward: descending)
            return true
        }
        if !isStopped { _ = try finish() }
    }

    private func loadNewest() throws {
        let select = try PreparedStatement(log.database, Catalog.selection)
        while try select.step() {
            let row = try CatalogRow(select.row)
            let owner = row.parent == 0 ? row.id : row.parent
            owners[row.id] = owner
            rows[owner, default: [:]][row.id] = row
        }
    }

    /// The entity that a row of the catalog belongs to: itself, or the column's entity. Only the row's insert names it.
    private func entity(of batch: EventBatch, _ index: Int) throws -> UInt32 {
        let id = batch.withView { view in
            let id = CatalogRow.id(view.value(view.key(of: index)[0]))
            if let value = CatalogRow.values(of: index, view, isOld: true).first(where: { $0.field == .entity })?.value
            {
                let parent = CatalogRow.id(value)
                owners[id] = parent == 0 ? id : parent
            }
            return id
        }
        guard let owner = owners[id] else {
            throw StorageError.corruptLog("the catalog's row \(id) is changed before it is there")
        }
        return owner
    }

    private func apply(_ batch: EventBatch, _ index: Int, to entity: UInt32, isBackward: Bool) {
        batch.withView { view in
            let id = CatalogRow.id(view.value(view.key(of: index)[0]))
            if isBackward, view.shape(of: index).isInsert {
                rows[entity]?[id] = nil
                return
            }
            var row = rows[entity]?[id] ?? CatalogRow()
            row[.id] = .integer(Int64(id))
            row.apply(view, event: index, isBackward: isBackward)
            rows[entity, default: [:]][id] = row
        }
    }

    private static func catalog(_ rows: [UInt32: [UInt32: CatalogRow]]) throws -> Catalog {
        try Catalog(
            rows: rows.values.flatMap(\.values).sorted {
                ($0.parent, $0.id) < ($1.parent, $1.id)
            })
    }
}
