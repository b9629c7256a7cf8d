internal import CSQLite
internal import StorageHistory
internal import StorageLog

/// Cuts the log into what a projection is given: slices of its own events, ending with a whole commit.
struct BatchFeed {
    private let limits: BatchLimits
    private var pending: [RowEvent] = []
    private var sliceStart: Int64
    private let first: Int64
    private var taken = 0
    private var scanned = 0
    /// Even if few events are wanted, a transaction ends when this many times as many were decoded.
    private static let scanFactor = 32

    init(first: Int64, limits: BatchLimits) {
        self.first = first
        self.limits = limits
        sliceStart = first
    }

    /// Calls `body` with slices from `first` on until the limits are reached.
    ///
    /// - Returns: The position that was reached: the end of a commit.
    mutating func run(
        _ reader: LogReader, through head: Int64, of wanted: Set<UInt32>, _ body: (EventSlice) throws -> Void
    ) throws -> Int64 {
        var end: Int64?
        try reader.forEachBatch(in: first...head, where: { $0.entities.contains { wanted.contains($0) } }) { batch in
            end = try take(batch, through: head, of: wanted, body)
            return end == nil
        }
        let reached = end ?? head
        try flush(through: reached, body)
        return reached
    }

    /// - Returns: The position at which the transaction has to end, if it is in this segment.
    private mutating func take(
        _ batch: EventBatch, through head: Int64, of wanted: Set<UInt32>, _ body: (EventSlice) throws -> Void
    ) throws -> Int64? {
        let commits = batch.commits
        for (offset, part) in commits.enumerated() {
            for index in part.events {
                let position = batch.header.first + Int64(index)
                guard position >= first, position <= head else { continue }
                scanned += 1
                let event = batch.withView { view in
                    wanted.contains(view.shape(of: index).entity)
                        ? RowEvent(view, at: index, position: position, commit: part.info) : nil
                }
                guard let event else { continue }
                if position > limits.border, sliceStart <= limits.border {
                    try flush(through: limits.border, body)
                    // Even if no earlier event was wanted, so that new events don't count as history.
                    sliceStart = limits.border + 1
                }
                pending.append(event)
                taken += 1
                if pending.count >= limits.slice { try flush(through: position, body) }
            }
            let last = batch.header.first + Int64(part.events.upperBound) - 1
            let isWhole = offset < commits.count - 1 || !batch.endsInsideCommit
            let isFull =
                taken >= limits.events || (limits.isSingle && taken > 0)
                || scanned / Self.scanFactor >= limits.events
            if isWhole, isFull, last >= first { return min(last, head) }
        }
        return nil
    }

    private mutating func flush(through position: Int64, _ body: (EventSlice) throws -> Void) throws {
        guard !pending.isEmpty else { return }
        let slice = EventSlice(pending, at: sliceStart...position)
        pending = []
        defer { sliceStart = position + 1 }
        try body(slice)
    }
}
