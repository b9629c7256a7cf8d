internal import CSQLite
internal import StorageCore
internal import StorageLog

/// A history table as SQLite reads it. Each search reads the matching events from the log if they are few; otherwise all events
/// are read, once, and searches use the result.
///
/// Rows are stored in a temporary file, so that searches of any size return them in the order of their positions.
///
/// Not `Sendable`: it belongs to its connection's thread, and to the state of the log in which it was created.
final class HistoryTableReader {
    /// Owned by the connection as long as the table is.
    unowned let module: HistoryTableModule
    private let table: HistoryTable
    private(set) var plans: [HistoryTablePlan] = []
    /// The resources for reading, opened when first needed.
    private var files: Files?
    private var builder: HistorySearchBuilder?
    /// All rows, once they were needed.
    private var whole: HistoryRowBuffer?
    /// Buffers that no search uses.
    private var spare: [HistoryRowBuffer] = []
    private var count = 0
    /// The cost of all searches so far, as ``HistoryRowReader`` counts it: when it reaches half of all events, all events are
    /// read.
    private var spent: Int64 = 0

    private struct Files {
        let scratch: ScratchTables
        let log: LogReader
        let index: LogIndex
    }

    init(_ module: HistoryTableModule, _ table: HistoryTable) {
        self.module = module
        self.table = table
    }

    private func opened() throws -> Files {
        if let files { return files }
        let log = LogReader(module.source)
        let opened = try Files(scratch: ScratchTables(), log: log, index: LogIndex(log))
        files = opened
        return opened
    }

    /// Chooses the conditions of a query whose values searches receive.
    func plan(_ info: UnsafeMutablePointer<sqlite3_index_info>) throws {
        let plan = HistoryTablePlan(of: info, for: table, events: try opened().index.head.position)
        info.pointee.idxNum = Int32(plans.firstIndex(of: plan) ?? plans.count)
        if info.pointee.idxNum == plans.count { plans.append(plan) }
        info.pointee.idxStr = storage_message(plan.text(for: table))
        info.pointee.needToFreeIdxStr = 1
    }

    /// - Parameter values: For each condition of the plan, as ``HistorySearchBuilder`` expects them.
    func search(plan number: Int, _ values: [[StorageValue]?]) throws -> HistoryRowBuffer.Reading {
        module.failure = nil
        let plan = plans[number]
        let files = try opened()
        var builder = try builder ?? HistorySearchBuilder(table, files.index, scratch: files.scratch.database)
        builder.mayCast = module.mayCast
        self.builder = builder
        if whole == nil, plan.isNarrow(for: table), let search = try builder.search(plan, values),
            let rows = try part(search, plan)
        {
            return try rows.read(descending: plan.isDescending) { [self] in give(rows) }
        }
        let whole = try whole ?? makeWhole()
        self.whole = whole
        return try read(whole, by: plan, values: values, builder)
    }

    private func read(
        _ rows: HistoryRowBuffer, by plan: HistoryTablePlan, values: [[StorageValue]?], _ builder: HistorySearchBuilder
    ) throws -> HistoryRowBuffer.Reading {
        var positions: ClosedRange<Int64>?
        var equal: [(term: HistoryRowBuffer.Term, value: StorageValue)] = []
        for case (let condition, let values?) in zip(plan.conditions, values) where !condition.isList {
            let value = values[0]
            if table.role(of: condition.column) == .position {
                guard let bounds = HistorySearchBuilder.bounds(condition.comparison, value) else { continue }
                positions = (positions ?? bounds).clamped(to: bounds)
            } else if condition.comparison == .equal, !equal.contains(where: { $0.term.column == condition.column }) {
                let isExact = builder.isExact(condition, value)
                equal.append((HistoryRowBuffer.Term(column: condition.column, isExact: isExact), value))
            }
        }
        return try rows.read(positions: positions, equal: equal, descending: plan.isDescending)
    }

    private func take() throws -> HistoryRowBuffer {
        if let rows = spare.popLast() { return rows }
        count += 1
        return try HistoryRowBuffer(table, in: opened().scratch.database, number: count)
    }

    private func give(_ rows: HistoryRowBuffer) {
        // If they can't be removed, the buffer isn't used again.
        guard (try? rows.removeAll()) != nil else { return }
        spare.append(rows)
    }
}

// MARK: Reading

extension HistoryTableReader {
    private func makeWhole() throws -> HistoryRowBuffer {
        let files = try opened()
        let head = files.index.head.position
        guard head > 0 else { return try take() }
        guard let entity = table.entity else { return try commits(LogQuery(positions: 1...head)) }
        let reading = HistoryRowReader(try take(), of: entity, files.log)
        let rows = try filled(reading.rows) {
            guard table.kind == .changes else {
                try reading.addAllVersions(through: head)
                return true
            }
            let all = LogQuery(positions: 1...head, tables: [entity.name])
            return try reading.addChanges(HistorySearch(query: all), module.catalog)
        }
        return try rows ?? take()
    }

    /// The rows of a search; nil if reading all is better.
    private func part(_ search: HistorySearch, _ plan: HistoryTablePlan) throws -> HistoryRowBuffer? {
        let files = try opened()
        let most = min(max(files.index.head.position / 2, Self.leastBudget), Self.mostBudget)
        guard spent < most, !search.isLong(for: table, most: most - spent) else { return nil }
        guard !search.isEmpty else { return try take() }
        guard let entity = table.entity else {
            spent += HistoryRowReader.costOfLookup + Int64(search.query.positions.count) / 4
            return try commits(search.query)
        }
        // Reading changes takes no longer per event for a search than for all.
        let budget = table.kind == .changes ? Int64.max : most - spent
        let reading = HistoryRowReader(try take(), of: entity, files.log, budget: budget)
        defer { spent += reading.spent }
        return try filled(reading.rows) {
            guard table.kind == .history else { return try reading.addChanges(search, module.catalog) }
            return try reading.addVersions(
                search, ReadSource(module.source, catalog: module.catalog), through: files.index.head.position,
                needsUntil: plan.needsUntil)
        }
    }

    private func commits(_ query: LogQuery) throws -> HistoryRowBuffer {
        let reading = try CommitRowReader(rows: take(), log: opened().log)
        let rows = try filled(reading.rows) {
            try reading.add(query)
            return true
        }
        return try rows ?? take()
    }

    /// The budget for short logs: that many events are read quickly.
    private static let leastBudget: Int64 = 20_000
    /// The maximum, because the state that is kept for each row takes memory.
    private static let mostBudget: Int64 = 500_000

    /// - Parameter body: Adds the rows; returns whether they are complete.
    /// - Returns: nil if they aren't.
    private func filled(_ rows: HistoryRowBuffer, _ body: () throws -> Bool) throws -> HistoryRowBuffer? {
        var isDone = false
        defer { if !isDone { give(rows) } }
        isDone = try opened().scratch.inTransaction(body)
        return isDone ? rows : nil
    }
}

extension HistorySearch {
    /// Whether all events must be read, or should be.
    fileprivate func isLong(for table: HistoryTable, most: Int64) -> Bool {
        // Converted values are only in the store's tables, not in events.
        if table.kind == .history, table.entity?.live.contains(where: { !$0.definition.isEmpty }) ?? false {
            return true
        }
        guard keys == nil else { return false }
        let isFiltered = query.operations != nil || query.actors != nil || query.reasons != nil
        return !isFiltered && Int64(query.positions.count) > most
    }
}
