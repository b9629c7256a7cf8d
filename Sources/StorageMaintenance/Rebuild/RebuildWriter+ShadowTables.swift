internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Making shadow tables, and removing them.
extension RebuildWriter {
    /// Creates a shadow for each entity without a resumable one.
    ///
    /// - Returns: The position of each shadow.
    func begin(_ entities: [CatalogEntity]) throws -> [UInt32: Int64] {
        try writer.maintenance(db) {
            var positions: [UInt32: Int64] = [:]
            for shadow in try ShadowTable.load(writer.database) {
                if shadow.isResumable(writer.catalog) {
                    positions[shadow.entity] = shadow.position
                } else {
                    try drop(shadow.entity)
                }
            }
            for entity in entities where positions[entity.id] == nil {
                // Foreign keys would tie the shadow to tables that live on: a deletion there would reach into it.
                try make(entity, isUnconstrained: try hasForeignKeys(entity))
            }
            return Dictionary(uniqueKeysWithValues: entities.map { ($0.id, positions[$0.id] ?? 0) })
        }
    }

    private func hasForeignKeys(_ entity: CatalogEntity) throws -> Bool {
        let select = try PreparedStatement(writer.database, "SELECT 1 FROM temp.pragma_foreign_key_list(?1)")
        select.bind(text: entity.stored, at: 1)
        return try select.step()
    }

    /// Starts over with shadows without constraints.
    ///
    /// - Returns: Whether any of them had constraints.
    func dropConstraints(_ entities: Set<UInt32>) throws -> Bool {
        try writer.maintenance(db) {
            let strict = try shadows(entities).filter { !$0.isUnconstrained }
            for shadow in strict {
                guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
                try drop(entity.id)
                try make(entity, isUnconstrained: true)
            }
            return !strict.isEmpty
        }
    }

    /// Empties shadows.
    func startOver(_ entities: Set<UInt32>) throws {
        try writer.maintenance(db) {
            for shadow in try shadows(entities) {
                guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
                try drop(entity.id)
                try make(entity, isUnconstrained: shadow.isUnconstrained)
            }
        }
    }

    /// Takes shadows away.
    func abandon(_ entities: Set<UInt32>) throws {
        try writer.maintenance(db) {
            for shadow in try ShadowTable.load(writer.database) where entities.contains(shadow.entity) {
                try drop(shadow.entity)
            }
        }
    }

    /// Takes every shadow and every kept table away.
    func abandonAll() throws {
        try writer.maintenance(db) {
            for shadow in try ShadowTable.load(writer.database) { try drop(shadow.entity) }
            for table in try RetainedTable.all(writer.database) {
                try PreparedStatement(writer.database, "DROP TABLE \(quoted(table))").execute()
            }
        }
    }

    func drop(_ entity: UInt32) throws {
        try PreparedStatement(writer.database, "DROP TABLE IF EXISTS \(ShadowTable.table(entity))").execute()
        try writer.statement("DELETE FROM storage_shadow WHERE entity = ?1").run(Int64(entity))
        try writer.statement("DELETE FROM storage_shadow_tombstone WHERE entity = ?1").run(Int64(entity))
    }

    func make(_ entity: CatalogEntity, isUnconstrained: Bool) throws {
        let isUnconstrained = try isUnconstrained || !makeStrict(entity)
        if isUnconstrained {
            let columns = entity.live.map { quoted($0.stored) + $0.defaultClause }
            let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            let list = (columns + ["_position", "PRIMARY KEY (\(key))"]).joined(separator: ", ")
            try PreparedStatement(writer.database, "CREATE TABLE \(ShadowTable.table(entity.id)) (\(list))").execute()
        }
        try ShadowTable(
            entity: entity.id, position: 0, definition: Catalog.text(of: entity.definition),
            isUnconstrained: isUnconstrained
        ).save(writer)
    }

    /// Creates an empty shadow with exactly the entity's SQL according to the log, without indexes.
    ///
    /// - Returns: Whether it was possible: not under another name if a CHECK contains that of the table.
    private func makeStrict(_ entity: CatalogEntity) throws -> Bool {
        guard let sql = TableSQL.renaming(try entity.statements.table.sql, to: ShadowTable.table(entity.id)) else {
            throw StorageError.corruptLog("the definition of \"\(entity.name)\" can't be read")
        }
        do {
            try PreparedStatement(writer.database, sql).execute()
        } catch let error as StorageError where error.message.contains(": no such column: ") {
            return false
        }
        return true
    }
}
