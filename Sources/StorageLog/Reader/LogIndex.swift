internal import CSQLite

/// Finds commits and times in the log by bisection.
///
/// Commits and times rise with positions, and every segment records its first and last of both, so a search reads the headers of
/// O(log n) segments and decodes the one at which it ends.
///
/// Not `Sendable`: it belongs to its connection's thread, and to the state of the log in which it was created.
package final class LogIndex {
    /// The header of a segment.
    package struct Segment {
        package let positions: ClosedRange<Int64>
        package let commits: (first: Int64, last: Int64)
        package let firstTime: Int64
        /// Bytes in the file, and uncompressed.
        package let storedBytes: Int64
        package let rawBytes: Int64
        package let isSealed: Bool
    }

    /// A commit with all of its positions.
    package struct Commit: Sendable {
        package let info: CommitInfo
        package let positions: ClosedRange<Int64>
    }

    private let reader: LogReader
    private let select: PreparedStatement
    package let head: LogHead

    package init(_ reader: LogReader) throws {
        self.reader = reader
        head = try reader.head()
        select = try PreparedStatement(
            reader.database,
            """
            SELECT position, last, first_commit, last_commit, first_time, last_time, length(body), size, sealed
            FROM storage_log WHERE position <= ? ORDER BY position DESC LIMIT 1
            """)
    }

    /// The segment that holds a position, or the last one before it.
    package func segment(atOrBefore position: Int64) throws -> Segment? {
        select.bind(position, at: 1)
        defer { select.reset() }
        guard try select.step() else { return nil }
        let header = try SegmentHeader(
            first: select.integer(0), last: select.integer(1), firstCommit: select.integer(2),
            lastCommit: select.integer(3), firstTime: select.integer(4), lastTime: select.integer(5), entities: []
        ).checked()
        return Segment(
            positions: header.first...header.last, commits: (header.firstCommit, header.lastCommit),
            firstTime: header.firstTime, storedBytes: select.integer(6), rawBytes: select.integer(7),
            isSealed: select.integer(8) != 0)
    }

    /// The last segment for which a condition holds that also holds for all segments before it.
    private func lastSegment(where holds: (Segment) -> Bool) throws -> Segment? {
        var low: Int64 = 1
        var high = head.position
        var found: Segment?
        while low <= high {
            let middle = low + (high - low) / 2
            guard let segment = try segment(atOrBefore: middle) else { return found }
            if holds(segment) {
                found = segment
                low = max(segment.positions.upperBound, middle) + 1
            } else {
                high = segment.positions.lowerBound - 1
            }
        }
        return found
    }

    /// The commit with a number; nil if there is none.
    package func commit(_ number: Int64) throws -> Commit? {
        guard number >= 1, number <= head.commit,
            let segment = try lastSegment(where: { $0.commits.first <= number }),
            let batch = try reader.batch(containing: segment.positions.lowerBound),
            let part = batch.commits.first(where: { $0.info.number == number })
        else { return nil }
        return Commit(info: part.info, positions: try positions(of: part, in: batch))
    }

    /// The commit that an event belongs to.
    package func commit(at position: Int64) throws -> Commit? {
        guard position >= 1, let batch = try reader.batch(containing: position) else { return nil }
        let offset = Int(position - batch.header.first)
        guard let part = batch.commits.first(where: { $0.events.contains(offset) }) else { return nil }
        return Commit(info: part.info, positions: try positions(of: part, in: batch))
    }

    /// The last position whose commit was made at a time or before it; 0 if there is none.
    package func lastPosition(atOrBefore time: Int64) throws -> Int64 {
        guard let segment = try lastSegment(where: { $0.firstTime <= time }),
            let batch = try reader.batch(containing: segment.positions.lowerBound),
            let part = batch.commits.last(where: { $0.info.time <= time })
        else { return 0 }
        return batch.header.first + Int64(part.events.upperBound) - 1
    }

    /// All positions of a commit of which a segment holds a part; other segments are read only if the part reaches the segment's
    /// first or last event.
    package func positions(of part: CommitPart, in batch: EventBatch) throws -> ClosedRange<Int64> {
        try positions(of: (part.info, part.events), in: batch)
    }

    private func positions(
        of part: (info: CommitInfo, events: Range<Int>), in batch: EventBatch
    ) throws -> ClosedRange<Int64> {
        let number = part.info.number
        var first = batch.header.first + Int64(part.events.lowerBound)
        var last = batch.header.first + Int64(part.events.upperBound) - 1
        if part.events.lowerBound == 0, batch.beginsInsideCommit {
            while let earlier = try segment(atOrBefore: first - 1), earlier.commits.last == number {
                guard earlier.commits.first < number else {
                    first = earlier.positions.lowerBound
                    continue
                }
                let start = try reader.batch(containing: earlier.positions.lowerBound)?.commits.last
                first = earlier.positions.lowerBound + Int64(start?.events.lowerBound ?? 0)
                break
            }
        }
        if part.events.upperBound == batch.count, batch.endsInsideCommit {
            while last < head.position, let later = try segment(atOrBefore: last + 1), later.commits.first == number {
                guard later.commits.last > number else {
                    last = later.positions.upperBound
                    continue
                }
                let end = try reader.batch(containing: later.positions.lowerBound)?.commits.first
                last = later.positions.lowerBound + Int64(end?.events.upperBound ?? 1) - 1
                break
            }
        }
        return first...max(first, last)
    }
}
