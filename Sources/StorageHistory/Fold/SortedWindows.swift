internal import Dispatch
internal import StorageCore
package import StorageLog

/// The log folded from its beginning on, with one net change for each row, in windows that are in the order of keys.
///
/// What doesn't fit in memory is sorted and merged by ``SortedRuns``, on another thread: windows are sorted while the next one is filled,
/// and merged while the one before is applied.
///
/// Isolation: sound as `@unchecked Sendable`, because `table`, `merge` and `merged` are used on `queue` only, and the rest by one caller at a
/// time.
package final class SortedWindows: @unchecked Sendable {
    /// How the log is read.
    package struct Pace: Sendable {
        /// The memory that a window may take, see ``NetWindow``; there are two windows at a time.
        var memory: Int
        /// The memory for merging, see ``SortedRuns``.
        var mergeLimit: Int
        /// Whether rows that were deleted have a net change.
        var keepsGone: Bool
        /// Whether needed events are determined before events are read; if nil, once a window mostly has the rows of earlier ones.
        var seeksNeeded: Bool?

        package init(memory: Int, mergeLimit: Int? = nil, keepsGone: Bool, seeksNeeded: Bool? = nil) {
            self.memory = memory
            self.mergeLimit = mergeLimit ?? SortedRuns.usualLimit
            self.keepsGone = keepsGone
            self.seeksNeeded = seeksNeeded
        }
    }

    private let entities: [CatalogEntity]
    private let pace: Pace
    private let queue = DispatchQueue(label: "StorageKit sorting")
    private let spare = SpareMemory()
    /// nil if all is in one window.
    private var runs: SortedRuns?
    private var only: NetWindow?
    private var upcoming: BackgroundResult<Part?>?
    /// The table that is merged, and how.
    private var table = 0
    private var merge: SortedRuns.Merge?
    /// How many of the sorted records were merged.
    private var merged = 0
    private var total = 0

    /// Some rows of the log.
    package struct Part: Sendable {
        package let window: NetWindow
        /// Whether the window has all rows of all entities; else it has some of one entity.
        package let isAll: Bool
        /// How much is done behind the window, from 0 to 1.
        package let fraction: Double
    }

    /// Reads the log.
    ///
    /// - Parameters:
    ///   - entities: Those whose rows are folded, which ``NetWindow/takes(_:)``.
    ///   - check: Called for each segment with the position that was reached; may throw to stop.
    /// - Throws: ``NetWindow/Unordered``; the errors of the log, of the temporary file and of `check`.
    package init(
        of entities: [CatalogEntity], through position: Int64, from reader: LogReader, pace: Pace,
        check: (Int64) throws -> Void = { _ in }
    ) throws {
        self.entities = entities
        self.pace = pace
        guard position > 0 else { return }
        var batches = try BatchIterator(1...position, of: reader)
        var adding: BackgroundResult<NetWindow.Memory>?
        var reached: Int64 = 0
        var needed: NeededEvents?
        var seeksNeeded = pace.seeksNeeded ?? false
        while reached < position {
            if seeksNeeded, needed?.covers(reached + 1, entities) != true {
                let positions = reached + 1...min(position, reached + NeededEvents.limit)
                needed = try NeededEvents(of: entities, in: positions, reader)
                batches = try BatchIterator(positions, of: reader)
            }
            let end = needed?.positions.upperBound ?? position
            var window = NetWindow(entities, after: reached, needed: needed, limit: pace.memory, memory: spare.take())
            try window.fill(through: end, from: batches, check: check)
            reached = window.last
            if window.first == 1, reached == position {
                only = window
                return
            }
            let sorted = try runs ?? SortedRuns(of: entities, limit: pace.mergeLimit)
            runs = sorted
            seeksNeeded = pace.seeksNeeded ?? (seeksNeeded || window.isWorthSeeking(through: position))
            if let adding { spare.give(try adding.wait()) }
            adding = BackgroundResult(on: queue) { [window] in
                try sorted.add(window)
                return window.legacy
            }
        }
        if let adding { spare.give(try adding.wait()) }
        total = runs?.count ?? 0
    }

    /// Returns the next window, or nil after the last.
    ///
    /// - Parameter memory: The memory that the window after it may take.
    package func next(memory: Int? = nil) throws -> Part? {
        if let window = only {
            only = nil
            return Part(window: window, isAll: true, fraction: 1)
        }
        guard let runs else { return nil }
        let next = upcoming ?? beginMerging(runs, memory: memory)
        upcoming = nil
        let part = try next.wait()
        if part != nil { upcoming = beginMerging(runs, memory: memory) }
        return part
    }

    /// Takes the memory of a window that was applied.
    package func reuse(_ window: NetWindow) { spare.give(window.legacy) }

    private func beginMerging(_ runs: SortedRuns, memory: Int?) -> BackgroundResult<Part?> {
        BackgroundResult(on: queue) { [self] in
            while table < entities.count {
                let merge = try merge ?? SortedRuns.Merge(runs, table: table, keepsGone: pace.keepsGone)
                self.merge = merge
                let rest = merge.rest
                if let window = try merge.next(limit: memory ?? pace.memory, memory: spare.take()) {
                    merged += rest - merge.rest
                    return Part(window: window, isAll: false, fraction: Double(merged) / Double(total))
                }
                self.merge = nil
                table += 1
            }
            return nil
        }
    }
}
