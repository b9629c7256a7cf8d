internal import Foundation
internal import StorageCore
internal import StorageLog

/// Checks the log's continuity from one segment to the next: positions and commits without gaps, time that never
/// decreases, complete commits.
struct LogContinuityCheck {
    private var position: Int64 = 0
    private var commit: Int64 = 0
    private var time = Int64.min
    /// The last commit, if it continues in the next segment.
    private var unfinished: CommitInfo?
    /// The size of the current commit so far.
    private var size = (events: 0, bytes: 0)
    /// Whether a segment couldn't be read: numbers then continue from the next readable one.
    private var isResuming = false

    mutating func skip(to last: Int64) {
        position = max(position, last)
        isResuming = true
        unfinished = nil
        size = (0, 0)
    }

    mutating func check(_ batch: EventBatch, _ report: inout VerifyReport) {
        let header = batch.header
        if header.first != position + 1 {
            report.add("log", position: header.first, "positions from @\(position + 1) on are missing or repeated")
        }
        for (index, part) in batch.commits.enumerated() {
            let continues = index == 0 && batch.beginsInsideCommit
            if index == 0, !continues, let unfinished {
                report.add("log", position: header.first, "commit \(unfinished.number) isn't finished")
            }
            if continues, !isResuming, part.info != unfinished {
                report.add("log", position: header.first, "commit \(part.info.number) continues without a beginning")
            }
            if !continues, !isResuming, part.info.number != commit + 1 {
                report.add("log", position: header.first, "commit \(part.info.number) follows commit \(commit)")
            }
            if part.info.time < time {
                report.add("log", position: header.first, "time decreases at commit \(part.info.number)")
            }
            if part.events.isEmpty {
                report.add("log", position: header.first, "commit \(part.info.number) has no events")
            }
            if !continues {
                report.commits += 1
                size = (0, 0)
            }
            size = (size.events + part.events.count, size.bytes + batch.textBytes(of: part.events))
            if size.events > Limits.commitEvents || size.bytes > Limits.commitBytes {
                report.add("log", position: header.first, "commit \(part.info.number) is larger than a commit can be")
            }
            commit = part.info.number
            time = part.info.time
            isResuming = false
            unfinished = nil
        }
        if batch.endsInsideCommit { unfinished = batch.commits.last?.info }
        if let first = batch.commits.first, let last = batch.commits.last,
            first.info.number != header.firstCommit || last.info.number != header.lastCommit
                || first.info.time != header.firstTime || last.info.time != header.lastTime
        {
            report.add("log", position: header.first, "the row's head contradicts its commits")
        }
        report.events += batch.count
        position = header.last
    }

    mutating func finish(_ head: LogHead, _ report: inout VerifyReport) {
        if let unfinished { report.add("log", position: position, "commit \(unfinished.number) isn't finished") }
    }

    /// Collects the idempotency keys of a segment's commits.
    func collectKeys(
        of batch: EventBatch, remember: PreparedStatement, extend: PreparedStatement
    ) throws {
        for (index, part) in batch.commits.enumerated() {
            guard let key = part.info.metadata.idempotencyKey else { continue }
            let first = batch.header.first + Int64(part.events.lowerBound)
            let last = batch.header.first + Int64(part.events.upperBound) - 1
            if index == 0, batch.beginsInsideCommit {
                extend.bind(text: key, at: 1)
                extend.bind(last, at: 2)
                try extend.execute()
            } else {
                remember.bind(text: key, at: 1)
                remember.bind(part.info.number, at: 2)
                remember.bind(first, at: 3)
                remember.bind(last, at: 4)
                remember.bind(part.info.time, at: 5)
                try remember.execute()
            }
        }
    }
}
