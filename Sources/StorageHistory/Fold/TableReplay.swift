internal import StorageCore
internal import StorageLog

/// Brings a table to a position of the log, in one of several ways that differ only in cost.
///
/// Not `Sendable`: it belongs to the thread of its connections.
struct TableReplay {
    let target: Fold.Target
    /// The database of the table.
    let database: Connection
    /// A connection of the store, inside a read.
    let source: Connection

    /// Applies the events up to a position to an empty table, one by one. Rows are inserted in the order of their inserts in the
    /// log.
    func applyEvents(through position: Int64) throws {
        guard position > 0 else { return }
        let fold = Fold(database, targets: [target], checks: false)
        try LogReader(source).forEachBatch(in: 1...position, where: fold.wants) { batch in
            try fold.apply(batch, in: 1...position)
            return true
        }
    }

    /// Applies the events up to a position to an empty table, folded window by window, so that each row is written once. Rows are
    /// inserted in the order of their keys. Events that can't be folded are applied one by one.
    ///
    /// Only for a table that ``NetWindow/takes(_:)``.
    ///
    /// - Parameters:
    ///   - memory: The memory that a window may take, see ``NetWindow``.
    ///   - mergeLimit: The memory for merging several windows, see ``SortedRuns``.
    func applyWindows(
        through position: Int64, memory limit: Int? = nil, mergeLimit: Int = SortedRuns.usualLimit
    ) throws {
        let limit =
            limit ?? min(Self.windowMemory, max(Self.leastWindowMemory, Int(position) * Self.windowMemoryForEvent))
        let pace = SortedWindows.Pace(memory: limit, mergeLimit: mergeLimit, keepsGone: target.tombstones != nil)
        let windows: SortedWindows
        do {
            windows = try SortedWindows(of: [target.entity], through: position, from: LogReader(source), pace: pace)
        } catch is NetWindow.Unordered {
            return try applyEvents(through: position)
        }
        while let window = try windows.next()?.window {
            // The store's connection, whose statements a cancelled read interrupts, isn't used any more.
            try source.checkCancellation()
            try window.apply(0, to: target, in: database)
            windows.reuse(window)
        }
    }

    /// The bytes that a window may take: per event of the log, the maximum, and the minimum.
    private static let windowMemoryForEvent = 64
    private static let windowMemory = 2 << 20
    private static let leastWindowMemory = 64 << 10

    /// Undoes the last events of a table, newest first.
    ///
    /// Before the insert of a row that another program had deleted, and back to the row's last event before, the row isn't in the
    /// table: undoing the insert removes it, and nothing says when it was deleted.
    ///
    /// - Parameter replaced: Called with the position of each delete whose undoing replaces a row that another program has inserted
    ///   since.
    /// - Returns: Whether that was possible, else the table is empty: if that last event is undone, too, only the events from the
    ///   log's beginning on have the row.
    func undoEvents(in positions: ClosedRange<Int64>, replaced: (Int64) -> Void = { _ in }) throws -> Bool {
        let fold = Fold(database, targets: [target], checks: false, direction: .backward)
        do {
            try LogReader(source).forEachBatch(in: positions, descending: true, where: fold.wants) { batch in
                try fold.apply(batch, in: positions, replaced: { replaced($0.position) })
                return true
            }
            return true
        } catch let error as StorageError where error.code == .corrupt {
            try PreparedStatement(database, "DELETE FROM \(target.table)").execute()
            return false
        }
    }
}
