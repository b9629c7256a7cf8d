import CSQLite
import StorageLog

/// Finds commits and times in the log by halving.
///
/// Commits and times rise with positions, and every row of the log says between which of them it lies, so a search
/// reads the heads of a few rows and decodes the one that it ends at.
final class LogIndex {
    /// What a row of the log says of itself.
    struct Row {
        let positions: ClosedRange<Int64>
        let commits: (first: Int64, last: Int64)
        let firstTime: Int64
        /// Bytes in the file, and uncompressed.
        let storedBytes: Int64
        let rawBytes: Int64
        let isSealed: Bool
    }

    /// A commit with all of its positions.
    struct Commit {
        let info: CommitInfo
        let positions: ClosedRange<Int64>
    }

    private let reader: LogReader
    private let select: PreparedStatement
    let head: LogHead

    init(_ reader: LogReader) throws {
        self.reader = reader
        head = try reader.head()
        select = try PreparedStatement(
            reader.database,
            """
            SELECT position, last, first_commit, last_commit, first_time, last_time, length(body), size, sealed
            FROM storage_log WHERE position <= ? ORDER BY position DESC LIMIT 1
            """)
    }

    /// The row that holds a position, or the last one before it.
    func row(atOrBefore position: Int64) throws -> Row? {
        select.bind(position, at: 1)
        defer { select.reset() }
        guard try select.step() else { return nil }
        let header = try SegmentHeader(
            first: select.integer(0), last: select.integer(1), firstCommit: select.integer(2),
            lastCommit: select.integer(3), firstTime: select.integer(4), lastTime: select.integer(5), entities: []
        ).checked()
        return Row(
            positions: header.first...header.last, commits: (header.firstCommit, header.lastCommit),
            firstTime: header.firstTime, storedBytes: select.integer(6), rawBytes: select.integer(7),
            isSealed: select.integer(8) != 0)
    }

    /// The last row of which something holds that holds of all rows before it too.
    private func lastRow(where holds: (Row) -> Bool) throws -> Row? {
        var low: Int64 = 1
        var high = head.position
        var found: Row?
        while low <= high {
            let middle = low + (high - low) / 2
            guard let row = try row(atOrBefore: middle) else { return found }
            if holds(row) {
                found = row
                low = max(row.positions.upperBound, middle) + 1
            } else {
                high = row.positions.lowerBound - 1
            }
        }
        return found
    }

    func commit(_ number: Int64) throws -> Commit? {
        guard number >= 1, number <= head.commit,
            let row = try lastRow(where: { $0.commits.first <= number }),
            let batch = try reader.batch(containing: row.positions.lowerBound),
            let part = batch.commits.first(where: { $0.info.number == number })
        else { return nil }
        return Commit(info: part.info, positions: try positions(of: part, in: batch))
    }

    /// The commit that an event belongs to.
    func commit(at position: Int64) throws -> Commit? {
        guard position >= 1, let batch = try reader.batch(containing: position) else { return nil }
        let offset = Int(position - batch.header.first)
        guard let part = batch.commits.first(where: { $0.events.contains(offset) }) else { return nil }
        return Commit(info: part.info, positions: try positions(of: part, in: batch))
    }

    /// The last position whose commit was made at a time or before it; 0 if there is none.
    func lastPosition(atOrBefore time: Int64) throws -> Int64 {
        guard let row = try lastRow(where: { $0.firstTime <= time }),
            let batch = try reader.batch(containing: row.positions.lowerBound),
            let part = batch.commits.last(where: { $0.info.time <= time })
        else { return 0 }
        return batch.header.first + Int64(part.events.upperBound) - 1
    }

    /// All positions of a commit of which a row holds a part; the other rows are looked at only where the part touches
    /// the row's edge.
    func positions(of part: CommitPart, in batch: EventBatch) throws -> ClosedRange<Int64> {
        try positions(of: (part.info, part.events), in: batch)
    }

    private func positions(
        of part: (info: CommitInfo, events: Range<Int>), in batch: EventBatch
    ) throws -> ClosedRange<Int64> {
        let number = part.info.number
        var first = batch.header.first + Int64(part.events.lowerBound)
        var last = batch.header.first + Int64(part.events.upperBound) - 1
        if part.events.lowerBound == 0, batch.beginsInsideCommit {
            while let row = try row(atOrBefore: first - 1), row.commits.last == number {
                guard row.commits.first < number else {
                    first = row.positions.lowerBound
                    continue
                }
                let start = try reader.batch(containing: row.positions.lowerBound)?.commits.last
                first = row.positions.lowerBound + Int64(start?.events.lowerBound ?? 0)
                break
            }
        }
        if part.events.upperBound == batch.count, batch.endsInsideCommit {
            while last < head.position, let row = try row(atOrBefore: last + 1), row.commits.first == number {
                guard row.commits.last > number else {
                    last = row.positions.upperBound
                    continue
                }
                let end = try reader.batch(containing: row.positions.lowerBound)?.commits.first
                last = row.positions.lowerBound + Int64(end?.events.upperBound ?? 1) - 1
                break
            }
        }
        return first...max(first, last)
    }
}
