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
    private var first: Int64 = 1
    /// The entities as they were before the first event; loaded where a converted column makes it necessary.
    private var earlier: Catalog?

    private struct BlockedPlace: Hashable {
        let row: RowEvent.Row
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
        first = positions.lowerBound
        var events = 0
        try LogReader(writer.database).forEachBatch(in: positions, descending: true) { batch in
            try batch.withView { view in
                for index in (0..<view.count).reversed() {
                    let position = batch.header.first + Int64(index)
                    guard positions.contains(position) else { continue }
                    if view.shape(of: index).entity == CatalogEntity.catalog.id { continue }
                    events += 1
                    try takeBack(ExactEvent(view, at: index))
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

    private func takeBack(_ event: ExactEvent) throws {
        guard let entity = writer.catalog.entity(id: event.row.entity), !entity.isDropped else {
            return block(event, nil, "its table is gone")
        }
        if blocked.contains(BlockedPlace(row: event.row, column: 0)) { return }
        let access = try rows[entity.id] ?? RowAccess(entity, writer)
        rows[entity.id] = access
        let current = try access.row(event.key)
        switch event.operation {
        case .insert: try takeBackInsert(event, current, access)
        case .delete: try takeBackDelete(event, current, access)
        case .update: try takeBackUpdate(event, current, access)
        }
    }

    private func takeBackInsert(_ event: ExactEvent, _ current: [UInt32: ExactValue]?, _ access: RowAccess) throws {
        guard let current else { return }
        if policy != .overwrite {
            let new = event.after
            for column in access.columns where column.keyPlace == 0 && !column.isStamp {
                let found = current[column.id] ?? .null
                let expected = new[column.id]
                if found == expected ?? .null || expected == nil && found == ExactValue(column.fallback) { continue }
                return block(event, column, "it has changed since", expected: expected ?? .null, found: found)
            }
        }
        if try access.delete(event.key, withOthers: policy == .overwrite) {
            outcome.deleted += 1
        } else {
            block(event, nil, "rows that refer to it would go with it")
        }
    }

    private func takeBackDelete(_ event: ExactEvent, _ current: [UInt32: ExactValue]?, _ access: RowAccess) throws {
        let old = event.before.filter { value in access.columns.contains { $0.id == value.key } }
        if let current {
            if old.allSatisfy({ current[$0.key] == $0.value }) { return }
            guard policy == .overwrite else { return block(event, nil, "there is a row of this key again") }
            try access.update(event.key, old)
            outcome.updated += 1
        } else {
            do {
                try access.insert(event.key, old)
            } catch let error as StorageError where error.code == .conflict {
                return block(event, nil, "another row stands in its way (\(error.message))")
            }
            outcome.inserted += 1
        }
    }

    private func takeBackUpdate(_ event: ExactEvent, _ current: [UInt32: ExactValue]?, _ access: RowAccess) throws {
        guard let current else { return block(event, nil, "it was deleted since") }
        let (before, after) = (event.before, event.after)
        var changes: [UInt32: ExactValue] = [:]
        for column in access.columns {
            guard let old = before[column.id], let new = after[column.id], let found = current[column.id],
                found != old
            else { continue }
            if blocked.contains(BlockedPlace(row: event.row, column: column.id)) { continue }
            if column.origin != 0, try !existed(column, of: event) {
                // What a conversion filled in has no value of before.
                block(event, column, "the column was converted, and its values of before are another column's")
            } else if found == new || policy == .overwrite {
                changes[column.id] = old
            } else if !column.isStamp {
                block(event, column, "it has changed since", expected: new, found: found)
            }
        }
        guard !changes.isEmpty else { return }
        do {
            try access.update(event.key, changes)
        } catch let error as StorageError where error.code == .conflict {
            return block(event, nil, "another row stands in its way (\(error.message))")
        }
        outcome.updated += 1
    }

    /// Whether a column was there before the events that are taken back.
    private func existed(_ column: CatalogColumn, of event: ExactEvent) throws -> Bool {
        let earlier = try earlier ?? Catalog.load(writer.database, at: first - 1)
        self.earlier = earlier
        return earlier.entity(id: event.row.entity)?.columns.contains { $0.id == column.id } ?? false
    }

    private func block(
        _ event: ExactEvent, _ column: CatalogColumn?, _ reason: String, expected: ExactValue? = nil,
        found: ExactValue? = nil
    ) {
        blocked.insert(BlockedPlace(row: event.row, column: column?.id ?? 0))
        outcome.add(
            RevertConflict(
                table: writer.catalog.entity(id: event.row.entity)?.name ?? "?", key: event.key.map(\.value),
                column: column?.name, reason: reason, expected: expected?.value, found: found?.value))
    }
}

extension CatalogColumn {
    /// The time of a row's last save, which stands in nobody's way.
    fileprivate var isStamp: Bool { name == "updatedAt" && type == "DATETIME" }
}
