package import StorageLog

extension NetWindow {
    /// A window ends before so many events that aren't needed.
    package static let gap: Int64 = 50_000

    /// Fills an empty window from the log and finishes it.
    ///
    /// - Parameters:
    ///   - end: The last position to read; the window ends before it when it is full.
    ///   - batches: The segments of the log from the window's first position on; it continues behind the window.
    ///   - eventLimit: The number of events after which the window ends in any case.
    ///   - gap: The window ends before this many events that aren't needed: the next one skips them without decoding them.
    ///   - check: Called for each segment with the position that was reached; may throw to stop.
    /// - Throws: ``Unordered``; the errors of the log and of `check`.
    package mutating func fill(
        through end: Int64, from batches: BatchIterator, eventLimit: Int = .max, gap: Int64 = NetWindow.gap,
        check: (Int64) throws -> Void = { _ in }
    ) throws {
        let needed = needed
        let wanted = Set(tables.map(\.entity.id))
        var reached = end
        // Segments without needed events are skipped up to the first row of the window. After that they aren't, so that events find
        // their rows by the ones in between; where some were skipped after all, because they had been judged while others were decoded
        // ahead, the parts of a row are merged by its key.
        var isSkipping = true
        let wants = { (header: SegmentHeader) in
            guard header.entities.contains(where: wanted.contains) else { return false }
            if let needed, isSkipping { isSkipping = !needed.containsAny(of: header.first...header.last) }
            return needed == nil || !isSkipping
        }
        while let batch = try batches.next(where: wants) {
            // Those that are decoded ahead were wanted by the window before.
            guard wants(batch.header) else { continue }
            try check(last)
            try add(batch, through: end)
            let continues = needed?.containsAny(of: last + 1...last + gap) ?? true
            guard continues, makeRoom(), events < eventLimit else {
                reached = last
                break
            }
        }
        try finish(at: reached)
    }
}
