internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The conditions of a query by which a search in a history table chooses events.
///
/// They only reduce what is read: SQLite checks each condition again, so a search may return more rows, but never fewer.
struct HistoryTablePlan: Equatable {
    struct Condition: Equatable {
        let column: Int
        let comparison: Comparison
        /// Whether the column may be equal to any of several values, as `IN` says.
        let isList: Bool
        /// Whether the value is a literal in the query. Any other value may have an affinity, which changes what is equal to it.
        let isLiteral: Bool
    }

    enum Comparison: String { case equal = "=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">=" }

    /// The conditions, in the order of a search's values.
    var conditions: [Condition] = []
    /// Last positions first.
    var isDescending = false
    /// Whether the query reads the ends of versions.
    var needsUntil = false

    /// Chooses the usable ones of SQLite's conditions for a table, and estimates the cost of the search.
    ///
    /// - Parameter events: The number of events in the log.
    init(of info: UnsafeMutablePointer<sqlite3_index_info>, for table: HistoryTable, events: Int64) {
        for index in 0..<Int(info.pointee.nConstraint) {
            guard let condition = Self.condition(index, of: info, for: table) else { continue }
            conditions.append(condition)
            info.pointee.aConstraintUsage[index].argvIndex = Int32(conditions.count)
            // One search for the whole list.
            if condition.isList { sqlite3_vtab_in(info, Int32(index), 1) }
        }
        if info.pointee.nOrderBy == 1, info.pointee.aOrderBy[0].iColumn <= 0 {
            isDescending = info.pointee.aOrderBy[0].desc != 0
            info.pointee.orderByConsumed = 1
        }
        if let until = table.column(of: .until) { needsUntil = info.pointee.colUsed & (1 << min(until, 63)) != 0 }
        let cost = cost(for: table, events: Double(max(events, 1)))
        info.pointee.estimatedCost = cost.cost
        info.pointee.estimatedRows = Int64(cost.rows)
        if cost.rows == 1 { info.pointee.idxFlags = SQLITE_INDEX_SCAN_UNIQUE }
    }

    private static func condition(
        _ index: Int, of info: UnsafeMutablePointer<sqlite3_index_info>, for table: HistoryTable
    ) -> Condition? {
        let constraint = info.pointee.aConstraint[index]
        guard constraint.usable != 0, let comparison = Comparison(constraint.op) else { return nil }
        // The rowid is the position.
        let column = max(0, Int(constraint.iColumn))
        switch table.role(of: column) {
        case .position, .commit, .time: break
        default: guard comparison == .equal else { return nil }
        }
        // Under other collations, more texts are equal.
        guard let collation = sqlite3_vtab_collation(info, Int32(index)),
            String(cString: collation).lowercased() == "binary"
        else { return nil }
        // If an IN is evaluated value by value, which is only for numbers, SQLite compares the values again without the affinity
        // that they had.
        let isList =
            sqlite3_vtab_in(info, Int32(index), -1) != 0 && !table.affinity(of: column).isNumeric && column != 0
        var value: OpaquePointer?
        let isLiteral =
            !isList && sqlite3_vtab_rhs_value(info, Int32(index), &value) == SQLITE_OK && value != nil
        return Condition(column: column, comparison: comparison, isList: isList, isLiteral: isLiteral)
    }

    /// A rough estimate of the events that a search would read, and of the rows it would return.
    private func cost(for table: HistoryTable, events: Double) -> (cost: Double, rows: Double) {
        let lists = conditions.contains(where: \.isList)
        let roles = Set(conditions.filter { $0.comparison == .equal }.map { table.role(of: $0.column) })
        if roles.contains(.position) || table.kind == .commits && roles.contains(.commit) { return (20, 1) }
        if hasWholeKey(of: table) { return lists ? (1_000, 100) : (100, 10) }
        if roles.contains(.commit) { return lists ? (2_000, 100) : (200, 10) }
        let bounds = conditions.filter { [.position, .commit, .time].contains(table.role(of: $0.column)) }
        if !bounds.isEmpty {
            return (events / (bounds.count > 1 ? 8 : 2) + 200, events / (bounds.count > 1 ? 20 : 4) + 10)
        }
        if !roles.isDisjoint(with: [.operation, .actor, .reason]) { return (events + 200, events / 3 + 10) }
        // All events are read once; after that, an index finds them.
        return roles.isEmpty ? (2 * events + 200, events + 10) : (events / 2 + 200, events / 20 + 10)
    }

    func hasWholeKey(of table: HistoryTable) -> Bool {
        guard let count = table.entity?.key.count, count > 0 else { return false }
        return (0..<count).allSatisfy { ordinal in
            conditions.contains { $0.comparison == .equal && table.role(of: $0.column) == .key(ordinal) }
        }
    }

    /// Whether the conditions exclude events before they are read.
    func isNarrow(for table: HistoryTable) -> Bool {
        hasWholeKey(of: table)
            || conditions.contains { condition in
                switch table.role(of: condition.column) {
                case .position, .commit, .time, .operation, .actor, .reason: true
                default: false
                }
            }
    }

    /// The plan as `EXPLAIN QUERY PLAN` shows it.
    func text(for table: HistoryTable) -> String {
        guard isNarrow(for: table) else { return Self.wholeText(of: table) }
        let names = conditions.map { condition in
            "\(table.columns[condition.column]) \(condition.isList ? "IN (?)" : "\(condition.comparison.rawValue) ?")"
        }
        return "\(table.name) by \(names.joined(separator: " and "))"
    }

    /// The text for a plan that reads every event.
    static func wholeText(of table: HistoryTable) -> String { "\(table.name) from all events" }
}

extension HistoryTablePlan.Comparison {
    fileprivate init?(_ op: UInt8) {
        switch Int32(op) {
        case SQLITE_INDEX_CONSTRAINT_EQ, SQLITE_INDEX_CONSTRAINT_IS: self = .equal
        case SQLITE_INDEX_CONSTRAINT_LT: self = .less
        case SQLITE_INDEX_CONSTRAINT_LE: self = .lessOrEqual
        case SQLITE_INDEX_CONSTRAINT_GT: self = .greater
        case SQLITE_INDEX_CONSTRAINT_GE: self = .greaterOrEqual
        default: return nil
        }
    }
}
