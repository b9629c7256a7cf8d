internal import CSQLite
internal import StorageCore
package import StorageLog

/// Takes events back by changes of their own, last first, inside the commit under way.
///
/// Each column is looked at by itself: where it still holds what the event left, it gets what it held before; where it
/// holds something else, somebody has changed it since, and that is a conflict. The schema stays as it is.
package final class Reversal {
    private let writer: LogWriter
    private let policy: ConflictPolicy
    private var outcome = RevertOutcome()
    private var rows: [UInt32: RowAccess] = [:]
    /// Columns, and rows under column 0, in which a later event of the same run couldn't be taken back.
    private var blocked: Set<BlockedPlace> = []

    private struct BlockedPlace: Hashable {
        let entity: UInt32
        let key: [UInt8]
        let column: UInt32
    }

    package init(_ writer: LogWriter, policy: ConflictPolicy) {
        self.writer = writer
        self.policy = policy
    }

    /// - Throws: `conflict` where the policy refuses and something stands in the way; `not-found` where the positions
    ///   hold no change of a row.
    package func run(_ positions: ClosedRange<Int64>) throws -> RevertOutcome {
        try writer.statement("PRAGMA defer_foreign_keys = ON").execute()
        var events = 0
        try LogReader(writer.database).forEachBatch(in: positions, descending: true) { batch in
            try batch.withView { view in
                for index in (0..<view.count).reversed() {
                    guard positions.contains(batch.header.first + Int64(index)) else { continue }
                    if view.shape(of: index).entity == CatalogEntity.catalog.id { continue }
                    events += 1
                    try takeBack(Image(view, index, writer.catalog))
                }
            }
            return true
        }
        if events == 0 {
            throw StorageError(
                .notFound, "There is no change of a row to take back.",
                remedy: "Changes of the schema stay; name a commit that inserts, updates or deletes rows.")
        }
        if policy == .refuse, !outcome.conflicts.isEmpty { throw StorageError.refused(outcome.conflicts) }
        return outcome
    }

    private func takeBack(_ image: Image) throws {
        guard let entity = image.entity, !entity.isDropped else {
            return block(image, nil, "its table is gone")
        }
        if blocked.contains(place(image, 0)) { return }
        let access = try rows[entity.id] ?? RowAccess(entity, writer)
        rows[entity.id] = access
        let current = try access.row(image.key)
        switch image.operation {
        case STORAGE_INSERT: try takeBackInsert(image, current, access)
        case STORAGE_DELETE: try takeBackDelete(image, current, access)
        default: try takeBackUpdate(image, current, access)
        }
    }

    private func takeBackInsert(_ image: Image, _ current: [UInt32: StorageValue]?, _ access: RowAccess) throws {
        guard let current else { return }
        if policy != .overwrite {
            for column in access.columns where column.keyPlace == 0 && !column.isStamp {
                let found = current[column.id] ?? .null
                let expected = image.new[column.id]
                if found == expected ?? .null || expected == nil && found == column.fallback { continue }
                return block(image, column, "it has changed since", expected: expected ?? .null, found: found)
            }
        }
        if try access.delete(image.key, withOthers: policy == .overwrite) {
            outcome.deleted += 1
        } else {
            block(image, nil, "rows that refer to it would go with it")
        }
    }

    private func takeBackDelete(_ image: Image, _ current: [UInt32: StorageValue]?, _ access: RowAccess) throws {
        let old = image.old.filter { value in access.columns.contains { $0.id == value.key } }
        if let current {
            if old.allSatisfy({ current[$0.key] == $0.value }) { return }
            guard policy == .overwrite else { return block(image, nil, "there is a row of this key again") }
            try access.update(image.key, old)
            outcome.updated += 1
        } else {
            do {
                try access.insert(image.key, old)
            } catch let error as StorageError where error.code == .conflict {
                return block(image, nil, "another row stands in its way (\(error.message))")
            }
            outcome.inserted += 1
        }
    }

    private func takeBackUpdate(_ image: Image, _ current: [UInt32: StorageValue]?, _ access: RowAccess) throws {
        guard let current else { return block(image, nil, "it was deleted since") }
        var changes: [UInt32: StorageValue] = [:]
        for column in access.columns {
            guard let old = image.old[column.id], let new = image.new[column.id],
                let found = current[column.id], found != old
            else { continue }
            if blocked.contains(place(image, column.id)) { continue }
            if found == new || policy == .overwrite {
                changes[column.id] = old
            } else if !column.isStamp {
                block(image, column, "it has changed since", expected: new, found: found)
            }
        }
        guard !changes.isEmpty else { return }
        do {
            try access.update(image.key, changes)
        } catch let error as StorageError where error.code == .conflict {
            return block(image, nil, "another row stands in its way (\(error.message))")
        }
        outcome.updated += 1
    }

    private func place(_ image: Image, _ column: UInt32) -> BlockedPlace {
        BlockedPlace(entity: image.entity?.id ?? 0, key: KeyCoding.encode(image.key), column: column)
    }

    private func block(
        _ image: Image, _ column: CatalogColumn?, _ reason: String, expected: StorageValue? = nil,
        found: StorageValue? = nil
    ) {
        blocked.insert(place(image, column?.id ?? 0))
        outcome.add(
            RevertConflict(
                table: image.entity?.name ?? "?", key: image.key, column: column?.name, reason: reason,
                expected: expected, found: found))
    }
}

/// One event, taken apart by the ids of its columns.
private struct Image {
    let entity: CatalogEntity?
    let operation: Int
    let key: [StorageValue]
    var old: [UInt32: StorageValue] = [:]
    var new: [UInt32: StorageValue] = [:]

    init(_ view: EventView, _ index: Int, _ catalog: Catalog) {
        let shape = view.shape(of: index)
        entity = catalog.entity(id: shape.entity)
        operation = Int(shape.operation)
        let key = view.key(of: index)
        self.key = (0..<Int(shape.key_count)).map { view.value(key[$0]) }
        let values = view.columns(of: index)
        let count = Int(shape.column_count)
        for place in 0..<count {
            let id = shape.columns[place]
            if operation != STORAGE_INSERT { old[id] = view.value(values[place]) }
            if operation == STORAGE_INSERT { new[id] = view.value(values[place]) }
            if operation == STORAGE_UPDATE { new[id] = view.value(values[count + place]) }
        }
    }
}

extension CatalogColumn {
    /// The time of a row's last save, which stands in nobody's way.
    fileprivate var isStamp: Bool { name == "updatedAt" && type == "DATETIME" }
}
