package import StorageCore
internal import StorageLog
package import StorageRouting

/// Reports changes of single rows; it keeps only unreported events.
package final class ChangeEventNode: LiveNode {
    private let table: String
    private let filter: SubscriptionFilter
    private let limit: Int
    package var pendingUpdate: PendingUpdate<ChangeEventUpdate>?
    private var layout: RowLayout?
    /// Whether it has begun: only what comes later is reported.
    private var isOpen = false
    private var schemaDidChange = false
    private var pending: ChangeEventUpdate

    /// - Parameter limit: The most events kept for a reader: beyond that, they are merged into one.
    package init(_ table: String, filter: SubscriptionFilter, limit: Int) {
        self.table = table
        self.filter = filter
        self.limit = limit
        pending = ChangeEventUpdate(limit: limit)
    }

    package var ownInterests: [Interest] {
        let everything = Interest(entity: table, predicate: nil)
        // A condition on columns that were dropped can't be evaluated any more.
        return [layout.flatMap { try? filter.interest(in: $0) } ?? everything]
    }

    package func bind(to layouts: [RowLayout]) throws {
        let layout = layouts[0]
        if isOpen {
            schemaDidChange = true
        } else {
            guard layout.keyIndices.count == 1 else {
                throw StorageError(
                    .invalidArgument, "The rows of \"\(table)\" have no single id by which events could name them.",
                    remedy: "Follow the table with `changes(since:)`, whose events hold whole keys.")
            }
            _ = try filter.interest(in: layout)
        }
        self.layout = layout
    }

    package func reload(_ snapshot: Snapshot) throws {
        defer { isOpen = true }
        guard isOpen else { return }
        if schemaDidChange {
            pending.append(.schemaChange(tableName: table, position: snapshot.position))
        } else {
            pending.append(.bulkChange(tableName: table, affectedCount: nil, position: snapshot.position))
        }
        schemaDidChange = false
    }

    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard let event = event(change) else { throw StaleNode() }
        if filter.accepts(event) { pending.append(event) }
    }

    package func finishStep(_ snapshot: Snapshot) throws {}

    package func takeUpdate(at position: Int64) -> ChangeEventUpdate? {
        guard !pending.events.isEmpty else { return nil }
        defer { pending = ChangeEventUpdate(limit: limit) }
        return pending
    }

    /// Events bound themselves.
    package var updateLimit: Int { .max }
    package func wholeUpdate() -> ChangeEventUpdate? { nil }

    /// Nothing: once the store can be read again it is reloaded, and that is reported.
    package func takeFailure(_ error: StorageError) -> ChangeEventUpdate? { nil }
}

extension ChangeEventNode {
    private func event(_ row: ChangedRow) -> ChangeEvent? {
        let change = row.change
        guard let layout, let key = layout.keyIndices.first else { return nil }
        let (old, new) = (row.changes.old(change), row.changes.new(change))
        let id = (change.exists ? new : old)[key].value()
        if change.isUpdate {
            var changes: [String: FieldChange] = [:]
            for (index, column) in layout.columns.enumerated() where change.changed.contains(index) {
                // Columns that share a bit of the mask may be unchanged; their values weren't read then.
                if old[index].isUnknown || old[index].isSame(as: new[index]) { continue }
                changes[column.name] = FieldChange(old: old[index].value(), new: new[index].value())
            }
            return .updated(tableName: table, id: id, changes: changes, position: change.position)
        }
        let image = change.exists ? new : old
        var data: [String: StorageValue] = [:]
        for (index, column) in layout.columns.enumerated() {
            if image[index].isUnknown { return nil }
            data[column.name] = image[index].value()
        }
        return change.exists
            ? .inserted(tableName: table, id: id, newData: data, position: change.position)
            : .deleted(tableName: table, id: id, oldData: data, position: change.position)
    }
}
