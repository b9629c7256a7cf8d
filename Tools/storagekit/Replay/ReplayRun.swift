import StorageKit

/// Steps through a range of history, forward and back, and evaluates breakpoints and watches.
///
/// The log has the values before and after each event, so going back undoes events and never starts over. Not `Sendable`: it is used inside one read.
final class ReplayRun {
    let store: HistoryReader
    let printer: ReplayPrinter
    /// The range to step through; the state before it includes all earlier events.
    let logRange: LogRange
    private let shown: ChangeScan
    private(set) var position: Int64
    var breakpoints: [Breakpoint] = []
    var watches: [RowProbe] = []
    /// The projection that is folded while stepping.
    var folded: FoldedProjection?
    private lazy var wholeRows = Result { try WholeRowReader(store.connection, catalog: store.catalog) }

    /// - Parameter filter: The events to step through.
    init(_ filter: ChangeFilter, in store: HistoryReader, to printer: ReplayPrinter) {
        self.store = store
        self.printer = printer
        logRange = filter.logRange
        shown = ChangeScan(store: store, filter: filter)
        position = filter.logRange.after
    }

    /// Moves to a position without evaluating the events between.
    func jump(to position: Int64) { self.position = position }

    /// Returns the events after a position up to another: those to step through, or all if breakpoints, watches or the projection may need others.
    private func scan(after: Int64, through: Int64) -> ChangeScan {
        var filter = shown.filter
        if !breakpoints.isEmpty || !watches.isEmpty || folded != nil {
            filter = ChangeFilter(logRange: filter.logRange)
            filter.query.includesSchema = shown.filter.query.includesSchema
        }
        filter.logRange.after = after
        filter.logRange.through = through
        filter.query.positions = filter.logRange.positions
        return ChangeScan(store: store, filter: filter)
    }

    // MARK: Forward

    /// Steps forward by a number of events or commits, to the next breakpoint, or to a position.
    func forward(_ count: Int = .max, by unit: ReplayUnit, through limit: Int64? = nil) throws -> ReplayStop {
        let through = min(limit ?? logRange.through, logRange.through)
        var left = count
        var stop: ReplayStop?
        var isShownCommit = false
        try folded?.go(to: position)
        try scan(after: position, through: through).forEachPart(descending: false) { batch, part in
            for index in part.matching {
                let isShown = try pass(index, of: batch, in: part, stopping: &stop)
                isShownCommit = isShownCommit || isShown
                if unit == .event {
                    try fold(&stop)
                    if isShown { left -= 1 }
                    if stop != nil || left == 0 { return false }
                }
            }
            let goesOn = part.events.upperBound == batch.count && batch.endsInsideCommit
            guard !goesOn, unit == .commit else { return true }
            position = min(batch.header.first + Int64(part.events.upperBound) - 1, through)
            try fold(&stop)
            if isShownCommit { left -= 1 }
            isShownCommit = false
            return stop == nil && left > 0
        }
        if let stop { return stop }
        if left == 0 { return .step }
        position = max(position, through)
        return through < logRange.through ? .point : .end
    }

    /// Makes the projection apply the passed events, and prints the changes of its rows.
    private func fold(_ stop: inout ReplayStop?) throws {
        guard let folded else { return }
        do {
            for change in try folded.apply(through: position) { try printer.writeFolded(change, at: position) }
        } catch let error as StorageError where error.code == .projectionFailed {
            let stops = breakpoints.contains {
                if case .error = $0.kind { return true }
                return false
            }
            guard stops else { throw error }
            stop = .failure(error.message, at: position)
        }
    }

    /// Processes one event.
    ///
    /// - Returns: Whether the event is one of those to step through.
    private func pass(
        _ index: Int, of batch: EventBatch, in part: CommitPart, stopping stop: inout ReplayStop?
    ) throws -> Bool {
        position = batch.header.first + Int64(index)
        var known: StorageEvent?
        let event = {
            if let known { return known }
            let made = batch.event(at: index, catalog: self.store.catalog, commit: part.info)
            known = made
            return made
        }
        let isShown = shown.wants(batch, index)
        if isShown, !printer.isQuiet { try printer.write(event(), part, in: batch) }
        for watch in watches where watch.matches(batch, index) {
            for change in watch.changes(event()) {
                try printer.writeWatched(change, of: watch, by: event(), isUndone: false)
            }
        }
        try folded?.add(batch, at: index, commit: part.info)
        // A condition applies to the events that are stepped through; a cell names its own row.
        let whole =
            isShown && breakpoints.contains(where: \.needsRows)
            ? try wholeRows.get().event(batch, at: index, commit: part.info) : nil
        for breakpoint in breakpoints where stop == nil {
            if try breakpoint.isHit(by: event, at: index, of: batch, whole: whole, in: store.catalog) {
                stop = .condition(breakpoint.text, at: position)
            }
        }
        return isShown
    }

    // MARK: Back

    /// Undoes a number of events or commits.
    func back(_ count: Int, by unit: ReplayUnit) throws -> ReplayStop {
        var left = count
        var isShownCommit = false
        printer.breakOff()
        guard position > logRange.after else { return .beginning }
        try scan(after: logRange.after, through: position).forEachPart(descending: true) { batch, part in
            for index in part.matching {
                let isShown = shown.wants(batch, index)
                isShownCommit = isShownCommit || isShown
                let event = batch.event(at: index, catalog: store.catalog, commit: part.info)
                position = event.position - 1
                if isShown { try printer.writeUndone(event, part, in: batch) }
                for watch in watches where watch.matches(batch, index) {
                    for change in watch.changes(event) {
                        try printer.writeWatched(change, of: watch, by: event, isUndone: true)
                    }
                }
                if unit == .event, isShown {
                    left -= 1
                    if left == 0 { return false }
                }
            }
            let goesOn = part.events.lowerBound == 0 && batch.beginsInsideCommit
            guard !goesOn, unit == .commit else { return true }
            position = max(batch.header.first + Int64(part.events.lowerBound) - 1, logRange.after)
            if isShownCommit { left -= 1 }
            isShownCommit = false
            return left > 0
        }
        if left == 0 { return .step }
        position = logRange.after
        return .beginning
    }
}
