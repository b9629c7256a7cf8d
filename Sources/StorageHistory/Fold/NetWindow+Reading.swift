package import StorageLog

extension NetWindow {
    /// A window ends before so many events that aren't needed.
    package static let gap: Int64 = 50_000

    /// Fills an empty window from the log and finishes it.
    ///
    /// - Parameters:
    ///   - end: The last position to read; the window ends before it when it is full.
    ///   - eventLimit: The number of events after which the window ends in any case.
    ///   - gap: The window ends before this many events that aren't needed: the next one skips them without decoding them.
    ///   - check: Called for each segment; may throw to stop.
    package mutating func fill(
        through end: Int64, from reader: LogReader, eventLimit: Int = .max, gap: Int64 = NetWindow.gap,
        check: () throws -> Void = {}
    ) throws {
        let needed = needed
        let wanted = Set(tables.map(\.entity.id))
        var reached = end
        // Events that aren't needed are skipped up to the first row of the window; after that, events must find their rows.
        var isSkipping = true
        let wants = { (header: SegmentHeader) in
            guard header.entities.contains(where: wanted.contains) else { return false }
            if let needed, isSkipping { isSkipping = !needed.containsAny(of: header.first...header.last) }
            return needed == nil || !isSkipping
        }
        try reader.forEachBatch(in: first...end, where: wants) { batch in
            try check()
            try add(batch, through: end)
            let continues = needed?.containsAny(of: last + 1...last + gap) ?? true
            if continues, makeRoom(), events < eventLimit { return true }
            reached = last
            return false
        }
        finish(at: reached)
    }
}
