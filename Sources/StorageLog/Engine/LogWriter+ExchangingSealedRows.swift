internal import CSQLite
internal import GRDB
internal import StorageCore

/// Replaces segments by the sealed segment that they were merged to.
extension LogWriter {
    /// Replaces segments by their merged one, in a transaction of its own.
    func exchange(_ merged: SegmentMerge, _ db: GRDB.Database) throws {
        do {
            try maintenance(db, changesSchema: false) {
                try StorageError.failingStoreIfCorrupt { try exchange(merged) }
            }
        } catch {
            sealedThrough = nil
            throw error
        }
    }

    private func exchange(_ merged: SegmentMerge) throws {
        let (first, last) = (merged.row.header.first, merged.row.header.last)
        // Another task may have sealed them meanwhile, as imports do.
        let select = try statement(
            "SELECT position, last FROM storage_log WHERE position BETWEEN ?1 AND ?2 AND sealed = 0 ORDER BY position")
        select.bind(first, at: 1)
        select.bind(last, at: 2)
        var found: [ClosedRange<Int64>] = []
        while try select.step() {
            let (first, end) = (select.integer(0), select.integer(1))
            guard first <= end else { throw StorageError.corruptLog("row @\(first) ends before it begins") }
            found.append(first...end)
        }
        select.reset()
        guard found == merged.replaced else {
            sealedThrough = nil
            return
        }
        try statement("DELETE FROM storage_log WHERE position BETWEEN ?1 AND ?2").run(first, last)
        try insert(merged.row)
        sealedThrough = last
    }

    /// Seals the segments up to the end of a window inside the current transaction, whose segments no other connection sees yet.
    func sealNow(through border: Int64) throws {
        while try firstUnsealed() <= border, let run = try nextSealingRun(through: border),
            let merged = try SegmentMerge(run, from: database, configuration)
        {
            try exchange(merged)
        }
    }
}
