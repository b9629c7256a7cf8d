internal import CSQLite
internal import StorageCore

/// Sealing: the small segments of a full window are merged to few, at a higher compression level. Positions, times and events
/// don't change; only the bytes that hold them do.
///
/// Segments are sealed in the order of their positions, a run of neighbours at a time. A run is bounded by bytes, so memory and
/// the time for which the writer is blocked are bounded too. The merge itself (``SegmentMerge``) needs no writer: segments change
/// only by sealing.
extension LogWriter {
    /// The positions of each of the next segments to seal, in order, without a gap; nil if no full window is unsealed.
    ///
    /// - Parameter last: The end of the log; nil for that of the last transaction.
    func nextSealingRun(through last: Int64? = nil) throws -> [ClosedRange<Int64>]? {
        while true {
            let start = try firstUnsealed()
            let end = windowEnd(of: start)
            guard last ?? head.position >= end else { return nil }
            var rows: [ClosedRange<Int64>] = []
            let select = try statement(
                """
                SELECT position, last, size, length(body), sealed FROM storage_log
                WHERE position BETWEEN ?1 AND ?2 ORDER BY position
                """)
            select.bind(start, at: 1)
            select.bind(end, at: 2)
            defer { select.reset() }
            var (bytes, bodyBytes): (Int64, Int64) = (0, 0)
            while try select.step() {
                let (first, end) = (select.integer(0), select.integer(1))
                let next = (rows.last?.upperBound ?? start - 1) + 1
                guard first == next, end >= first else {
                    throw StorageError.corruptLog("positions from @\(next) on are missing")
                }
                let isFinal =
                    select.integer(4) != 0 || select.integer(3) >= configuration.finalRowBytes
                    || select.integer(2) > Int64(Limits.segmentTargetBytes) * 2
                (bytes, bodyBytes) = (bytes + select.integer(2), bodyBytes + select.integer(3))
                let isFull = bytes > Int64(Limits.segmentTargetBytes) || bodyBytes > Limits.sealingRunBytes
                if isFinal || (isFull && !rows.isEmpty) { break }
                rows.append(first...end)
            }
            if !rows.isEmpty { return rows }
            try passFinalRow(at: start)
        }
    }

    /// Skips a segment that is large already and stays as it was written: compressing it again would save a tenth, and would
    /// block the writer for the time that all of its bytes take.
    private func passFinalRow(at position: Int64) throws {
        let select = try statement("SELECT last FROM storage_log WHERE position = ?")
        select.bind(position, at: 1)
        defer { select.reset() }
        guard try select.step() else { throw StorageError.corruptLog("position @\(position) is missing") }
        sealedThrough = select.integer(0)
    }

    private func windowEnd(of position: Int64) -> Int64 {
        let window = Int64(configuration.segmentLength)
        return ((position - 1) / window + 1) * window
    }

    /// The first position after those that are sealed or final. Segments are sealed in order, so the search back from the head is
    /// short, and done once.
    func firstUnsealed() throws -> Int64 {
        if let sealedThrough { return sealedThrough + 1 }
        let select = try statement("SELECT last, sealed FROM storage_log ORDER BY position DESC")
        defer { select.reset() }
        while try select.step() {
            if select.integer(1) != 0 {
                let last = select.integer(0)
                guard Limits.numbers.contains(last) else {
                    throw StorageError.corruptLog("a row says that it ends @\(last)")
                }
                sealedThrough = last
                return last + 1
            }
        }
        sealedThrough = 0
        return 1
    }
}
