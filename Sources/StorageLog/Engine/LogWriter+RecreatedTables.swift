internal import CSQLite
internal import StorageCore

/// Entity tables that were recreated under the same name in the current commit. Their changes aren't captured until the log has
/// recorded how the new rows differ from the old.
extension LogWriter {
    /// The entities whose tables were replaced, as they were before.
    package var replacedEntities: [CatalogEntity] {
        // Called at the end of each commit, with a catalog that may be long.
        schema.replaced.isEmpty ? [] : catalog.live.filter { schema.replaced.contains($0.id) }
    }

    /// Adds the columns of the new table to the catalog, matched by name.
    ///
    /// - Throws: An error if the new table can't hold the entity, or if rows of the old one were changed in this commit.
    package func adoptReplacement(_ entity: CatalogEntity) throws -> CatalogEntity {
        let start = commitStart
        let view = captured
        for index in start..<max(view.count, start) where view.shape(of: index).entity == entity.id {
            throw StorageError(
                .schemaMismatch, "Rows of \"\(entity.name)\" were changed in the same step that recreates its table.",
                remedy: "Change them in a migration of its own before, or in the new table.")
        }
        guard let table = try readSchema().tables[entity.stored.folded] else {
            throw StorageError.recreatedTable(entity.name)
        }
        guard table.hasRowid else { throw StorageError.tableWithoutRowid(entity.name) }
        let key = table.columns.filter { $0.keyOrdinal > 0 }.sorted { $0.keyOrdinal < $1.keyOrdinal }
        guard key.map(\.name.folded) == entity.key.map(\.stored.folded) else {
            throw StorageError(
                .schemaMismatch, "The new table of \"\(entity.name)\" has another primary key.",
                remedy: "Keep the key; for another one declare a new entity and copy the rows.")
        }
        var adopted = entity
        let names = Set(table.columns.map(\.name.folded))
        for index in adopted.columns.indices where !names.contains(adopted.columns[index].stored.folded) {
            adopted.columns[index].isDropped = true
        }
        var next = nextCatalogId
        for column in table.columns where column.name.folded != "_position".folded {
            let isKnown = adopted.columns.firstIndex { !$0.isDropped && $0.stored.folded == column.name.folded }
            if let isKnown {
                // The new table may write the name in another case, which doesn't rename the column.
                adopted.columns[isKnown].stored = column.name
                adopted.columns[isKnown].required = column.required
                if !column.type.isEmpty { adopted.columns[isKnown].type = column.type }
            } else {
                adopted.columns.append(
                    CatalogColumn(
                        id: next, name: column.name, type: column.type, keyOrdinal: 0, required: column.required))
                next += 1
            }
        }
        adopted.noteHiddenRowidNames(by: table.columns.map(\.name))
        _ = try adopted.rowid
        record(adopted)
        return adopted
    }

    /// Makes capture watch another table instead of the entity's own.
    package func captureReplacement(_ entity: CatalogEntity, in table: String) throws {
        let found = try readSchema()
        try defineCapture(found, standIns: [entity.id: table])
        changes.isCaptureOutdated = false
        schema.version = found.version
        storage_capture_take_schema_suspicion(capture)
        storage_capture_take_schema_undone(capture)
    }

    /// Adopts the new table as the entity's own.
    package func finishReplacement(_ entity: CatalogEntity) throws {
        schema.replaced.remove(entity.id)
        changes.renumbered.insert(entity.id)
        schema.roots[entity.id] = try readSchema().tables[entity.stored.folded]?.root
        schema.version = -1
        try schemaChanged()
    }

    /// The events of this transaction that aren't in the log yet, with the position of the first.
    package func withPendingEvents(_ body: (EventView, Int64) throws -> Void) rethrows {
        guard pendingEvents > 0 else { return }
        try body(captured, head.position + 1)
    }
}
