internal import StorageCore
internal import StorageLog

/// The events to read for the values of a ``HistoryTablePlan``: at least those that match its conditions.
struct HistorySearch {
    /// The events to read, by their positions, operations, and commits.
    var query: LogQuery
    /// The keys of the events' rows; all if nil.
    var keys: [[StorageValue]]?
    /// Whether no event can match.
    var isEmpty = false

    /// The maximum number of keys: a value can stand for several keys, which multiply in a key of many columns.
    static let mostKeys = 1_000
    /// Lists with more values don't restrict the search.
    static let mostValues = 1_000
}

/// Converts the values of a plan to a search.
struct HistorySearchBuilder {
    private let table: HistoryTable
    private let index: LogIndex
    /// Whether literals of the query may have an affinity, from `CAST`.
    var mayCast = true
    /// Converts a value by SQLite's rules.
    private let conversions: PreparedStatement
    private var search: HistorySearch

    /// - Parameter scratch: Any connection.
    init(_ table: HistoryTable, _ index: LogIndex, scratch: Connection) throws {
        self.table = table
        self.index = index
        conversions = try PreparedStatement(
            scratch,
            """
            SELECT value FROM (SELECT ?1 AS value UNION ALL SELECT CAST(?1 AS TEXT) UNION ALL SELECT CAST(?1 AS INTEGER)
            UNION ALL SELECT CAST(?1 AS REAL) UNION ALL SELECT CAST(?1 AS NUMERIC)
            UNION ALL SELECT CAST(CAST(?1 AS REAL) AS INTEGER))
            """)
        search = HistorySearch(
            query: LogQuery(positions: 1...max(1, index.head.position), tables: [table.entity?.name ?? ""]),
            isEmpty: index.head.position == 0)
    }

    /// The search for a plan; nil if its values exclude nothing.
    ///
    /// - Parameter values: For each condition the values that a column may be equal to; nil for too many.
    func search(_ plan: HistoryTablePlan, _ values: [[StorageValue]?]) throws -> HistorySearch? {
        var copy = self
        var narrows = false
        for case (let condition, let values?) in zip(plan.conditions, values) {
            if try copy.narrow(by: condition, values) { narrows = true }
        }
        if plan.hasWholeKey(of: table), let keys = try copy.keys(plan, values) {
            copy.search.keys = keys
            narrows = true
        }
        return narrows ? copy.search : nil
    }

    /// - Returns: Whether the condition excludes anything.
    private mutating func narrow(by condition: HistoryTablePlan.Condition, _ values: [StorageValue]) throws -> Bool {
        guard !values.isEmpty else {
            search.isEmpty = true
            return true
        }
        let role = table.role(of: condition.column)
        if role == .position || role == .commit {
            guard let bounds = Self.hull(values, { Self.bounds(condition.comparison, $0) }) else { return false }
            guard role == .commit else { return narrow(to: bounds) }
            return try narrow(toCommits: bounds)
        }
        var texts: Set<String> = []
        for value in values {
            guard case .text(let text) = value, isExact(condition, value) else { return false }
            texts.insert(text)
            // A set holds only one of two spellings of a text, which are two texts for SQLite.
            guard texts.containsExactly(text) else { return false }
        }
        switch role {
        case .time:
            guard let bounds = try Self.hull(texts, { try times(condition.comparison, $0) }) else { return false }
            return try narrow(toTimes: bounds)
        case .operation:
            search.query.operations = Set(StorageEvent.Operation.allCases.filter { texts.contains($0.rawValue) })
        case .actor: search.query.actors = texts
        case .reason: search.query.reasons = texts
        default: return false
        }
        return true
    }

    /// The smallest range that contains those of all values; nil if one of them has none.
    private static func hull<Value>(
        _ values: some Collection<Value>, _ bounds: (Value) throws -> ClosedRange<Int64>?
    ) rethrows -> ClosedRange<Int64>? {
        var hull: ClosedRange<Int64>?
        for value in values {
            guard let next = try bounds(value) else { return nil }
            let known = hull ?? next
            hull = min(known.lowerBound, next.lowerBound)...max(known.upperBound, next.upperBound)
        }
        return hull
    }

    private mutating func narrow(to positions: ClosedRange<Int64>) -> Bool {
        let lower = max(search.query.positions.lowerBound, positions.lowerBound)
        let upper = min(search.query.positions.upperBound, positions.upperBound)
        if lower > upper { search.isEmpty = true } else { search.query.positions = lower...upper }
        return true
    }

    private mutating func narrow(toCommits commits: ClosedRange<Int64>) throws -> Bool {
        let lower = max(1, commits.lowerBound)
        let upper = min(index.head.commit, commits.upperBound)
        guard lower <= upper else {
            search.isEmpty = true
            return true
        }
        guard let first = try index.commit(lower), let last = try index.commit(upper) else { return false }
        return narrow(to: first.positions.lowerBound...last.positions.upperBound)
    }

    private mutating func narrow(toTimes times: ClosedRange<Int64>) throws -> Bool {
        search.query.times = times
        let lower = times.lowerBound == .min ? 0 : try index.lastPosition(atOrBefore: times.lowerBound - 1)
        let upper = try index.lastPosition(atOrBefore: times.upperBound)
        guard lower < upper else {
            search.isEmpty = true
            return true
        }
        return narrow(to: lower + 1...upper)
    }

    /// The integers that can satisfy a condition with a number, and perhaps an adjacent one.
    static func bounds(_ comparison: HistoryTablePlan.Comparison, _ value: StorageValue) -> ClosedRange<Int64>? {
        let bounds: (down: Int64, up: Int64)
        switch value {
        case .integer(let value): bounds = (value, value)
        case .real(let value):
            guard let down = Int64(exactly: value.rounded(.down)), let up = Int64(exactly: value.rounded(.up)) else {
                return nil
            }
            bounds = (down, up)
        default: return nil
        }
        switch comparison {
        case .equal: return bounds.down...bounds.up
        case .less, .lessOrEqual: return .min...bounds.up
        case .greater, .greaterOrEqual: return bounds.down ... .max
        }
    }
}

// MARK: Times

extension HistorySearchBuilder {
    /// The times whose texts sort in their order: those of the years 0 to 9999.
    private static let ordered: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    /// The times that can satisfy a condition with a text, and perhaps an adjacent one; nil if the log has times whose texts
    /// don't sort in their order.
    private func times(_ comparison: HistoryTablePlan.Comparison, _ text: String) throws -> ClosedRange<Int64>? {
        guard let first = try index.segment(atOrBefore: 1)?.firstTime, first >= Self.ordered.lowerBound,
            index.head.time <= Self.ordered.upperBound
        else { return nil }
        let time = Self.firstTime(from: text)
        switch comparison {
        case .equal: return time...time
        case .less, .lessOrEqual: return .min...time
        case .greater, .greaterOrEqual: return time ... .max
        }
    }

    /// The first time whose text doesn't sort before another text.
    private static func firstTime(from text: String) -> Int64 {
        var (low, high) = (ordered.lowerBound, ordered.upperBound + 1)
        while low < high {
            let middle = low + (high - low) / 2
            if HistoryTableInstaller.time(middle).utf8.lexicographicallyPrecedes(text.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

// MARK: Keys

extension HistorySearchBuilder {
    /// The keys that the values can stand for; nil if they don't determine the whole key, or stand for too many.
    private func keys(_ plan: HistoryTablePlan, _ values: [[StorageValue]?]) throws -> [[StorageValue]]? {
        var keys: [[StorageValue]] = [[]]
        for ordinal in table.entity?.key.indices ?? 0..<0 {
            let given = zip(plan.conditions, values).filter {
                $0.0.comparison == .equal && table.role(of: $0.0.column) == .key(ordinal)
            }
            let exact = given.lazy.compactMap { condition, values in
                values.flatMap { values in
                    values.allSatisfy { isExact(condition, $0) && !$0.isRepaired } ? values : nil
                }
            }
            guard let exact = exact.first else { return nil }
            // An earlier or later affinity of the column may have stored the same value as another kind.
            let parts = try conversions(of: exact)
            guard keys.count * parts.count <= HistorySearch.mostKeys else { return nil }
            keys = keys.flatMap { key in parts.map { key + [$0] } }
        }
        return keys
    }

    private func conversions(of given: [StorageValue]) throws -> [StorageValue] {
        var values: [StorageValue] = []
        for value in given {
            try conversions.writer.bind(value, at: 1)
            defer { conversions.reset() }
            while try conversions.step() {
                let value = conversions.row.value(at: 0)
                if !values.contains(value) { values.append(value) }
            }
        }
        // The log distinguishes the two zeros; SQL doesn't.
        if values.contains(.real(0)) { values = values.filter { $0 != .real(0) } + [.real(0), .real(-0.0)] }
        return values
    }

    /// Whether a column that is equal to a value holds exactly this value, or its conversion by the column's affinity.
    ///
    /// That isn't certain if the value has an affinity of its own: `text = 42` is true of '42', but `text = number` of '042' too.
    /// The values of a list have had theirs applied: a text that it could have converted to a number is compared as a text.
    func isExact(_ condition: HistoryTablePlan.Condition, _ value: StorageValue) -> Bool {
        let isPlain = condition.isLiteral && !mayCast
        switch (table.affinity(of: condition.column), value) {
        case (_, .null), (_, .blob), (.integer, _), (.real, _), (.numeric, _): return true
        case (_, .text(let text)): return isPlain || condition.isList || !text.readsAsNumber
        case (.text, _): return isPlain
        case (.blob, _): return isPlain || [.until, .commit].contains(table.role(of: condition.column))
        }
    }
}

extension String {
    /// Whether SQLite's numeric affinity may convert it to a number.
    fileprivate var readsAsNumber: Bool {
        let digits = utf8.drop { $0 <= 0x20 || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
        guard let first = digits.first, (0x30...0x39).contains(first) else { return false }
        // A sign follows only an exponent's letter, so a date isn't a number.
        return zip(digits, digits.dropFirst()).allSatisfy { previous, byte in
            (0x30...0x39).contains(byte) || byte <= 0x20 || [0x2E, 0x45, 0x65].contains(byte)
                || [0x2B, 0x2D].contains(byte) && [0x45, 0x65].contains(previous)
        }
    }
}

extension StorageValue {
    /// Whether this may be Swift's repair of a text that isn't valid Unicode.
    var isRepaired: Bool {
        guard case .text(let text) = self else { return false }
        return text.unicodeScalars.contains("\u{FFFD}")
    }
}
