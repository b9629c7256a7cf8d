internal import CSQLite
internal import StorageCore

// MARK: Segments

extension LogWriter {
    /// The captured events; valid until the next change is captured.
    package var captured: EventView {
        EventView(
            events: somewhere(storage_capture_events(capture)), count: storage_capture_count(capture),
            values: somewhere(storage_capture_values(capture)), bytes: somewhere(storage_capture_bytes(capture)),
            shapes: somewhere(storage_capture_shapes(capture)), shapeCount: storage_capture_shape_count(capture))
    }

    /// An empty buffer has no address; as nothing is read from it, any address will do.
    private func somewhere<Element>(_ address: UnsafePointer<Element>?) -> UnsafePointer<Element> {
        address ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
    }

    /// Appends the commits of this transaction to the log.
    func appendOpenCommits(sealing: Bool) throws {
        let view = captured
        var covered = 0
        for commit in open {
            guard commit.events.lowerBound == covered else {
                throw StorageError.breach("the events of commit \(commit.info.number) don't follow those before it")
            }
            covered = commit.events.upperBound
        }
        guard covered == view.count else { throw StorageError.breach("changes were captured outside of a commit") }
        guard !open.isEmpty else { return }
        // A large batch fills whole windows, which get their final form at once.
        let fillsWindows = view.count >= 2 * configuration.segmentLength
        try asEngine {
            try appendRows(view, commits: open, first: head.position + 1, sealing: sealing || fillsWindows)
        }
    }

    /// Splits events into segments at the borders of windows, and writes them.
    ///
    /// - Parameter sealing: Whether full windows are written in their final form.
    private func appendRows(
        _ view: EventView, commits: [(info: CommitInfo, events: Range<Int>)], first: Int64, sealing: Bool
    ) throws {
        let window = Int64(configuration.segmentLength)
        // Only for this call: after a rollback, other segments may be at the same positions.
        let bases = SegmentBaseCache(database)
        var start = 0
        var commit = 0
        while start < view.count {
            let position = first + Int64(start)
            let windowStart: Int64 = (position - 1) / window * window
            let border: Int64 = windowStart + window
            let room = Int(border - position) + 1
            let range = start..<min(view.count, start + room)
            let end = view.cut(range, commits: commits, from: commit, bytes: Limits.segmentTargetBytes)
            // Sealed segments always precede unsealed ones: a window is written sealed only after a sealed one.
            let isWholeWindow = windowStart + 1 >= first && start + room <= view.count
            let context =
                try sealing && isWholeWindow && firstUnsealed() == position ? sealingContext(position, bases) : nil
            let row = try encoder.encode(
                view, range: start..<end, first: position, commits: slice(commits, start..<end, from: &commit),
                level: context == nil ? configuration.tailLevel : configuration.sealedLevel, sealing: context)
            try insert(row)
            if context != nil {
                sealedThrough = row.header.last
                if SealingContext.mayBeBase(row.header, windowLength: window) {
                    bases.keep(SegmentBase(position: position, bytes: encoder.lastBody))
                }
            }
            start = end
            if sealing, !isWholeWindow, row.header.last == border, try firstUnsealed() == windowStart + 1 {
                try sealNow(through: border)
            }
        }
    }

    /// The parts of the commits in a range of events. The search begins at index `commit`, which is advanced.
    private func slice(
        _ commits: [(info: CommitInfo, events: Range<Int>)], _ range: Range<Int>, from commit: inout Int
    ) -> [CommitSlice] {
        while commits[commit].events.upperBound <= range.lowerBound { commit += 1 }
        var slices: [CommitSlice] = []
        var index = commit
        while index < commits.count, commits[index].events.lowerBound < range.upperBound {
            let events = commits[index].events.clamped(to: range)
            slices.append(
                CommitSlice(
                    info: commits[index].info, eventCount: events.count,
                    continuesEarlier: commits[index].events.lowerBound < range.lowerBound,
                    continuesLater: commits[index].events.upperBound > range.upperBound))
            index += 1
        }
        return slices
    }

    /// nil if preceding large bodies would have to be read, which would block the writer for too long.
    private func sealingContext(_ position: Int64, _ bases: SegmentBaseCache) throws -> SealingContext? {
        try SealingContext(
            before: position, windowLength: configuration.segmentLength, in: database, bases: bases, passes: false)
    }

    func insert(_ segment: EncodedSegment) throws {
        try segment.insert(with: statement(EncodedSegment.insertion))
    }
}

extension EventView {
    /// Shortens a range so that its texts, and the metadata of the commits that begin after its first event, stay under a number
    /// of bytes; keeps at least one event. The metadata of the commit that a segment begins with is included however short the
    /// segment is.
    ///
    /// - Parameter first: The index of the first commit that can have events in the range.
    func cut(
        _ range: Range<Int>, commits: [(info: CommitInfo, events: Range<Int>)], from first: Int, bytes limit: Int
    ) -> Int {
        var total = 0
        var commit = first
        for index in range {
            while commits[commit].events.upperBound <= index {
                commit += 1
                if index > range.lowerBound { total += commits[commit].info.metadata.byteCount }
            }
            let values = key(of: index)
            for value in 0..<valueCount(of: index) { total += Int(values[value].size) }
            if total > limit, index > range.lowerBound { return index }
        }
        return range.upperBound
    }
}
