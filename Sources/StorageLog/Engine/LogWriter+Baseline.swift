internal import CSQLite
internal import Foundation
internal import StorageCore

/// Begins the history of a table that has rows already.
extension LogWriter {
    /// Adds a table to the catalog as it is. ``recordBaseline(of:after:count:bytes:)`` records its rows, in this commit or in later
    /// ones.
    ///
    /// - Throws: An error if the table doesn't exist, or is an entity already.
    package func declareAdopted(_ table: String) throws -> CatalogEntity {
        guard catalog.entity(stored: table) == nil, let found = try readSchema().tables[table.folded] else {
            throw StorageError(
                .schemaMismatch, "There is no table \"\(table)\" to start recording.",
                remedy: "Name an existing table that has no history yet.")
        }
        try statement("ALTER TABLE \(quoted(found.name)) ADD COLUMN _position INTEGER NOT NULL DEFAULT 0").execute()
        var next = nextCatalogId
        var entity = CatalogEntity(id: next, name: found.name, stored: found.name, columns: [])
        for column in found.columns {
            next += 1
            entity.columns.append(
                CatalogColumn(
                    id: next, name: column.name, type: column.type, keyOrdinal: column.keyOrdinal,
                    required: column.required))
        }
        record(entity)
        try schemaChanged()
        return catalog.entity(id: entity.id) ?? entity
    }

    /// Records the rows after a rowid as inserts with their current values, as a part of the current commit.
    ///
    /// Each row is written once, to set its `_position`, and capture records that update as the insert. So values aren't read
    /// and written back here, and no trigger of the user's fires.
    ///
    /// - Parameters:
    ///   - count: The most rows.
    ///   - bytes: The size of the commit's texts and blobs after which no more rows are recorded.
    /// - Returns: The last rowid that was recorded, nil if no row is left.
    package func recordBaseline(
        of entity: CatalogEntity, after rowid: Int64?, count: Int, bytes: Int = .max
    ) throws -> Int64? {
        let name = try entity.rowid
        let table = quoted(entity.stored)
        let select = try statement(
            "SELECT \(name) FROM \(table) WHERE \(rowid == nil ? "?1 = 0" : "\(name) > ?1") ORDER BY \(name) LIMIT ?2")
        select.bind(rowid ?? 0, at: 1)
        select.bind(Int64(count), at: 2)
        var rows: [Int64] = []
        while try select.step() { rows.append(select.integer(0)) }
        select.reset()
        let update = try statement("UPDATE \(table) SET _position = ?1 WHERE \(name) = ?2")
        storage_capture_set_baseline(capture, 1)
        database.setTriggersEnabled(false)
        defer {
            database.setTriggersEnabled(true)
            storage_capture_set_baseline(capture, 0)
        }
        var last: Int64?
        for row in rows {
            try update.run(nextPosition, row)
            last = row
            if pendingBytes >= bytes { break }
        }
        return last
    }
}
