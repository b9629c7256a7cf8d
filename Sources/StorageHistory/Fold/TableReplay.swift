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

    /// Applies the events up to a position to an empty table, folded window by window, so that each row is written once per
    /// window. Rows are inserted in the order of their keys.
    ///
    /// Only for a table that ``NetWindow/takes(_:)``.
    ///
    /// - Parameter memory: The memory that a window may take, see ``NetWindow``.
    func applyWindows(through position: Int64, memory limit: Int? = nil) throws {
        let limit =
            limit ?? min(Self.windowMemory, max(Self.leastWindowMemory, Int(position) * Self.windowMemoryForEvent))
        let reader = LogReader(source)
        var reached: Int64 = 0
        var memory = NetWindow.Memory()
        do {
            while reached < position {
                var window = NetWindow(
                    [target.entity], after: reached, needed: nil, limit: limit, memory: consume memory)
                try window.fill(through: position, from: reader)
                try window.apply(0, to: target, in: database)
                reached = window.last
                memory = window.legacy
            }
        } catch let error as StorageError where error.code == .conflict && reached > 0 {
            // Two rows that exchange a unique value have to do it one after the other, as in the log. Or a row that another
            // program had deleted was inserted again.
            try PreparedStatement(database, "DELETE FROM \(target.table)").execute()
            try applyEvents(through: position)
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
    /// - Returns: Whether that was possible, else the table is empty: if that last event is undone, too, only the events from the
    ///   log's beginning on have the row.
    func undoEvents(in positions: ClosedRange<Int64>) throws -> Bool {
        let fold = Fold(database, targets: [target], checks: false, direction: .backward)
        do {
            try LogReader(source).forEachBatch(in: positions, descending: true, where: fold.wants) { batch in
                try fold.apply(batch, in: positions)
                return true
            }
            return true
        } catch let error as StorageError where error.code == .corrupt {
            try PreparedStatement(database, "DELETE FROM \(target.table)").execute()
            return false
        }
    }
}
