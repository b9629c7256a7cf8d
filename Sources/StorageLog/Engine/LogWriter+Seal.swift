internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore

/// Sealing: the small rows of a full window become one row at a higher level. Positions, times and events stay as they
/// are; only the bytes that hold them change.
extension LogWriter {
    /// Whether a window is full and not sealed.
    var hasWindowToSeal: Bool {
        guard let start = try? firstUnsealed() else { return false }
        return head.position >= windowEnd(of: start)
    }

    /// Seals the oldest full window, in a transaction of its own; false when there is none.
    func sealWindow(_ db: GRDB.Database) throws -> Bool {
        let start = try firstUnsealed()
        let end = windowEnd(of: start)
        guard head.position >= end else { return false }
        try db.beginTransaction(.immediate)
        do {
            try asEngine { try merge(start...end) }
            try db.commit()
        } catch {
            // A rollback can fail only when SQLite has rolled back by itself already.
            if db.isInsideTransaction { try? db.rollback() }
            sealedThrough = nil
            throw StorageError.wrapping(error)
        }
        return true
    }

    private func windowEnd(of position: Int64) -> Int64 {
        let window = Int64(configuration.segmentLength)
        return ((position - 1) / window + 1) * window
    }

    /// The first position that isn't in a sealed row. Rows are sealed in order, so looking back from the head is short.
    func firstUnsealed() throws -> Int64 {
        if let sealedThrough { return try skipSealed(from: sealedThrough + 1) }
        let select = try statement("SELECT last, sealed FROM storage_log ORDER BY position DESC")
        defer { select.reset() }
        while try select.step() {
            if select.integer(1) != 0 {
                sealedThrough = select.integer(0)
                return select.integer(0) + 1
            }
        }
        sealedThrough = 0
        return 1
    }

    /// Windows may be sealed already where they were written whole.
    private func skipSealed(from position: Int64) throws -> Int64 {
        let select = try statement("SELECT last, sealed FROM storage_log WHERE position = ?")
        var position = position
        while true {
            select.bind(position, at: 1)
            let found = try select.step()
            let last = select.integer(0)
            let sealed = found && select.integer(1) != 0
            select.reset()
            guard sealed else { return position }
            sealedThrough = last
            position = last + 1
        }
    }

    func merge(_ positions: ClosedRange<Int64>) throws {
        let select = try statement(
            "SELECT position, last, size, body FROM storage_log WHERE position BETWEEN ?1 AND ?2 ORDER BY position")
        select.bind(positions.lowerBound, at: 1)
        select.bind(positions.upperBound, at: 2)
        var batches: [EventBatch] = []
        var next = positions.lowerBound
        while try select.step() {
            let batch = try decoder.decode(body: select.bytes(3), size: Int(select.integer(2)))
            guard batch.header.first == next, select.integer(0) == next, batch.header.last == select.integer(1) else {
                select.reset()
                throw StorageError.corruptLog("row @\(select.integer(0)) isn't where it should be")
            }
            next = batch.header.last + 1
            batches.append(batch)
        }
        select.reset()
        guard next == positions.upperBound + 1 else {
            throw StorageError.corruptLog("positions from @\(next) on are missing")
        }
        let merged = MergedEvents(batches)
        try statement("DELETE FROM storage_log WHERE position BETWEEN ?1 AND ?2")
            .run(positions.lowerBound, positions.upperBound)
        try merged.withView { view in
            try appendRows(
                view, commits: merged.commits, first: positions.lowerBound, replacing: true, sealing: true,
                continues: (merged.continuesEarlier, merged.continuesLater))
        }
    }
}
