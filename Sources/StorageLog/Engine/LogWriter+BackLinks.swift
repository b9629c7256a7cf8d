internal import CSQLite
internal import Foundation
internal import StorageCore

/// Back-links: each event names the previous event of its row.
///
/// A row's `_position` is the position of its last event, so the hook reads the back-link of an update or delete from the old
/// image. This file adds what the hook can't know: the delete that precedes an inserted row, and rows that a statement changed
/// without updating their `_position`, as raw SQL does. If a statement changed only the `_position` of a row, the old value is
/// restored.
///
/// Any program may have written the positions in tables: each is checked before it becomes a part of the log.
extension LogWriter {
    func linkEvents(_ range: Range<Int>, touchesFrom firstTouch: Int) throws {
        let base = head.position + 1
        // Rows whose `_position` isn't that of their last event yet, by entity and rowid.
        var stale: [RowidAddress: Int64] = [:]
        var touch = firstTouch
        let touches = storage_capture_touch_count(capture)
        let lastSeenEnd = foreignWrites.lastSeenEnd
        // Links to compare with the rows of their events.
        var linksToCheck: [(earlier: Int64, index: Int)] = []
        func check(_ earlier: Int64, before position: Int64, at index: Int, _ shape: storage_shape) throws {
            guard (1..<position).contains(earlier) else { throw foreignRow(at: earlier, shape) }
            if lastSeenEnd > 0, earlier <= lastSeenEnd || earlier >= base { linksToCheck.append((earlier, index)) }
        }
        func restore(before event: Int) {
            while touch < touches, storage_capture_touches(capture)[touch].event <= event {
                let touched = storage_capture_touches(capture)[touch]
                let address = RowidAddress(entity: touched.entity, rowid: touched.rowid)
                stale[address] = stale[address] ?? touched.position
                touch += 1
            }
        }
        for index in range {
            if touch < touches { restore(before: index) }
            let event = storage_capture_events(capture)[index]
            let shape = storage_capture_shapes(capture)[Int(event.shape)]
            let position = base + Int64(index)
            let address = RowidAddress(entity: shape.entity, rowid: event.rowid)
            if shape.isInsert {
                if let earlier = try takeTombstone(index, shape) {
                    try check(earlier, before: position, at: index, shape)
                    storage_capture_set_previous(capture, index, earlier)
                }
            } else if !stale.isEmpty, let earlier = stale[address] {
                try check(earlier, before: position, at: index, shape)
                storage_capture_set_previous(capture, index, earlier)
            } else {
                try check(event.previous, before: position, at: index, shape)
            }
            if shape.isDelete {
                try setTombstone(RowAddress(captured, at: index), position)
                if !stale.isEmpty { stale[address] = nil }
            } else if event.bound_position != position {
                stale[address] = position
            } else if !stale.isEmpty {
                stale[address] = nil
            }
        }
        try checkRows(of: &linksToCheck)
        restore(before: range.upperBound)
        try stampPositions(stale)
        if !defersTombstones { try writeTombstones() }
    }

    /// - Throws: `corrupt` for a link to an event that isn't the row's.
    private func checkRows(of links: inout [(earlier: Int64, index: Int)]) throws {
        guard !links.isEmpty else { return }
        // Each segment is decoded once.
        links.sort { $0.earlier < $1.earlier }
        let view = captured
        for (earlier, index) in links where try !mayFollow(earlier, index, of: view) {
            throw foreignRow(at: earlier, view.shape(of: index))
        }
    }

    /// The error for a row whose table names an impossible position of its previous event.
    private func foreignRow(at position: Int64, _ shape: storage_shape) -> StorageError {
        StorageError.foreignRow(of: catalog.entity(id: shape.entity)?.name ?? "", at: position)
    }

    private func stampPositions(_ stale: [RowidAddress: Int64]) throws {
        guard !stale.isEmpty else { return }
        try asEngine {
            // Triggers of users must not fire for the engine's bookkeeping.
            let triggers = stale.keys.contains { schema.triggered.contains($0.entity) }
            if triggers { database.setTriggersEnabled(false) }
            defer { if triggers { database.setTriggersEnabled(true) } }
            // In table order, each page is visited once; in hash order, many times.
            let rows = stale.sorted { ($0.key.entity, $0.key.rowid) < ($1.key.entity, $1.key.rowid) }
            var last: (entity: UInt32, update: PreparedStatement?)?
            for (address, position) in rows {
                if last?.entity != address.entity { last = (address.entity, try stamp(of: address.entity)) }
                try last?.update?.run(position, address.rowid)
            }
        }
    }

    /// - Returns: nil if the table was dropped after its rows were changed, so that they have no positions to update.
    private func stamp(of entity: UInt32) throws -> PreparedStatement? {
        guard let entity = catalog.entity(id: entity), !entity.isDropped else { return nil }
        return try statement("UPDATE main.\(quoted(entity.stored)) SET _position = ?1 WHERE \(entity.rowid) = ?2")
    }

    /// Removes the tombstone of an inserted row and returns its position, that of the row's delete.
    private func takeTombstone(_ index: Int, _ shape: storage_shape) throws -> Int64? {
        // Most bulk inserts need no lookup.
        let mayBeStored = try mayHaveTombstones(shape.entity)
        guard mayBeStored || !tombstones.isEmpty else { return nil }
        let row = RowAddress(captured, at: index)
        if let position = tombstones.positions[row] {
            guard position > 0 else { return nil }
            try setTombstone(row, 0)
            return position
        }
        guard mayBeStored, let position = try storedTombstone(row) else { return nil }
        try setTombstone(row, 0)
        return position
    }

    private func setTombstone(_ row: RowAddress, _ position: Int64) throws {
        tombstones.set(row, position)
        if tombstones.isFull { try writeTombstones() }
    }

    private func storedTombstone(_ row: RowAddress) throws -> Int64? {
        let select = try statement(.storedTombstone)
        defer { select.reset() }
        select.bind(Int64(row.entity), at: 1)
        select.bind(blob: row.key, at: 2)
        return try select.step() ? select.integer(0) : nil
    }

    /// Writes the pending changes of tombstones to the file.
    func writeTombstones() throws {
        guard !tombstones.isEmpty else { return }
        // In table order, each page is visited once.
        let rows = tombstones.positions.sorted {
            $0.key.entity == $1.key.entity
                ? $0.key.key.lexicographicallyPrecedes($1.key.key) : $0.key.entity < $1.key.entity
        }
        let put = try statement(.putTombstone)
        let drop = try statement(.dropTombstone)
        for (row, position) in rows {
            let statement = position > 0 ? put : drop
            statement.bind(Int64(row.entity), at: 1)
            statement.bind(blob: row.key, at: 2)
            if position > 0 {
                statement.bind(position, at: 3)
                schema.tombstones[row.entity] = true
            }
            try statement.execute()
        }
        tombstones.removeWritten()
    }

    /// Whether the file has tombstones of an entity.
    private func mayHaveTombstones(_ entity: UInt32) throws -> Bool {
        if let known = schema.tombstones[entity] { return known }
        let select = try statement("SELECT 1 FROM storage_tombstone WHERE entity = ? LIMIT 1")
        defer { select.reset() }
        select.bind(Int64(entity), at: 1)
        let found = try select.step()
        schema.tombstones[entity] = found
        return found
    }
}

extension StorageError {
    fileprivate static func foreignRow(of table: String, at position: Int64) -> StorageError {
        var error = StorageError(
            .corrupt,
            "Another program has written to the table \"\(table)\": the log doesn't have a row that is to be changed, and whose last change is @\(position). Nothing of this commit was kept.",
            remedy:
                "Show the difference: storagekit verify. Restore the table from the log: storagekit rebuild \([table].quotedAsOperands)"
        )
        error.isCausedByUnrecordedRow = true
        return error
    }
}
