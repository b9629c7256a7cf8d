import GRDB
import StorageEntities

@testable import StorageCore
@testable import StorageLog
@testable import StorageViews

/// Live aggregates of a table's rows beside what SQLite answers at the same position. Sums are compared with another
/// exact summation, over the numbers that SQLite makes of the values.
struct AggregateOracle: ViewOracle {
    typealias Row = [StorageValue]

    let spec: AggregateSpec
    private let table: TablePlan
    private let node: FollowedNode<AggregateNode>

    init(_ spec: AggregateSpec, _ engine: SubscriptionEngine, _ table: TablePlan = .standard) throws {
        self.spec = spec
        self.table = table
        node = try FollowedNode(engine, stepFault: { $0.fault(on: $1, id: \.key) }) { AggregateNode(spec) }
    }

    var reported: (steps: Int, wholes: Int) { (node.state.steps, node.state.wholes) }
    var shown: [Row]? { nil }

    /// The sum of the groups' counts.
    var total: Int? {
        guard node.state.error == nil, let place = spec.terms.firstIndex(of: AggregateTerm(.count)) else { return nil }
        return node.state.value.reduce(0) { sum, row in
            guard case .integer(let count) = row.values[place] else { return sum }
            return sum + Int(count)
        }
    }

    // MARK: What is expected

    private func areSame(_ left: StorageValue, _ right: StorageValue, _ column: String) -> Bool {
        SQLiteComparison.order(left, right, by: table.collation(of: column)) == 0
    }

    /// - Returns: What is wrong; nil where nothing is.
    func fault(_ db: GRDB.Database) throws -> Fault? {
        let state = node.state
        if let fault = state.fault { return fault }
        let query = try QuerySQL(spec.request, of: spec.table)
        let meant = try query.select(limit: spec.request.limit).rows(db)
        let names = try spec.groups.map { try spec.table.column(named: $0) }
        // Where there is a window SQLite sums up, not always exactly; otherwise sums are exact.
        let isExact = !spec.hasWindow
        var text = try query.aggregate(
            (names + ["count(*)"]
                + spec.terms.map {
                    $0.column == nil || $0.isSum && isExact ? "NULL" : try $0.sql(spec.table)
                })
                .joined(separator: ", "))
        if !names.isEmpty {
            text.sql += " GROUP BY \(names.joined(separator: ", ")) ORDER BY \(names.joined(separator: ", "))"
        }
        let answers: [[StorageValue]]
        do {
            answers = try text.rows(db)
        } catch let error as StorageError where !isExact && error.message.contains("overflow") {
            return state.error == nil ? Fault("aggregate error", "none: \(description)") : nil
        }
        let summands = try isExact ? summands(of: spec.terms.filter(\.isSum).compactMap(\.column), db) : [:]
        var wanted: [[StorageValue?]] = []
        for answer in answers {
            let members = meant.filter { row in
                zip(spec.groups, answer).allSatisfy { group, value in
                    spec.table.columnIndex(of: group).map { areSame(row[$0], value, group) } ?? false
                }
            }
            wanted.append(
                spec.terms.enumerated().map { place, term in
                    guard let column = term.column else { return answer[names.count] }
                    return term.isSum && isExact
                        ? sum(
                            members.map { summands[key(of: $0)]?[column] ?? .null }, isMean: term.function == .average)
                        : answer[names.count + 1 + place]
                })
        }
        if wanted.contains(where: { $0.contains(nil) }) {
            return state.error == nil ? Fault("aggregate error", "none: \(description)") : nil
        }
        if let error = state.error { return Fault("aggregate error", "\(error): \(description)") }
        guard state.value.count == answers.count else {
            return Fault("aggregate groups", "\(state.value.map(\.key)) and not \(answers): \(description)")
        }
        for (row, (answer, values)) in zip(state.value, zip(answers, wanted)) {
            let isSameKey = zip(spec.groups, zip(row.key, answer)).allSatisfy { areSame($1.0, $1.1, $0) }
            guard isSameKey else { return Fault("aggregate key", "\(row.key) and not \(answer): \(description)") }
            for (term, (value, wanted)) in zip(spec.terms, zip(row.values, values)) {
                if isRight(term, value, wanted ?? .null, meant) { continue }
                return Fault(
                    "aggregate \(term.function)",
                    "\(term) of \(row.key): \(value) and not \(wanted ?? .null): \(description)")
            }
        }
        return nil
    }

    private var description: String { "\(spec.request) \(spec.groups)" }

    private func isRight(_ term: AggregateTerm, _ value: StorageValue, _ wanted: StorageValue, _ rows: [Row]) -> Bool {
        guard let column = term.column, term.function == .minimum || term.function == .maximum else {
            return value == wanted
        }
        // Of values that compare as equal any may be emitted, but one that a row has.
        guard value != .null else { return wanted == .null }
        guard let place = spec.table.columnIndex(of: column) else { return false }
        return areSame(value, wanted, column) && rows.contains { $0[place] == value }
    }

    private func key(of row: Row) -> Row { Array(row.prefix(table.keyCount)) }

    /// What a sum sees in columns of each row: a sum of one value is that.
    private func summands(of columns: [String], _ db: GRDB.Database) throws -> [Row: [String: StorageValue]] {
        guard !columns.isEmpty else { return [:] }
        let keys = table.keyNames.map(quoted).joined(separator: ", ")
        let sums = columns.map { "sum(\(quoted($0)))" }.joined(separator: ", ")
        let rows = try QuerySQL.Text(sql: "SELECT \(keys), \(sums) FROM rows GROUP BY \(keys)").rows(db)
        return Dictionary(
            rows.map { row in
                (
                    key(of: row),
                    Dictionary(zip(columns, row.dropFirst(table.keyCount)), uniquingKeysWith: { first, _ in first })
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Nil where it is beyond what SQLite can sum up.
    private func sum(_ summands: [StorageValue], isMean: Bool) -> StorageValue? {
        var numbers: [Double] = []
        var whole: Int128 = 0
        var count = 0
        var isReal = false
        for summand in summands {
            switch summand {
            case .integer(let value):
                whole += Int128(value)
                numbers += [Double(value >> 32) * 0x1p32, Double(value & 0xFFFF_FFFF)]
                count += 1
            case .real(let value):
                numbers.append(value)
                isReal = true
                count += 1
            default: continue
            }
        }
        guard count > 0 else { return .null }
        let sum = Partials.sum(numbers)
        let answer = isMean ? sum / Double(count) : sum
        if isMean || isReal { return answer.isNaN ? .null : .real(answer) }
        return Int64(exactly: whole).map { .integer($0) }
    }
}

extension AggregateTerm {
    var isSum: Bool { function == .sum || function == .average }
}
