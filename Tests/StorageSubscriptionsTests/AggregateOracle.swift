import CSQLite
import GRDB
import PredicateTestSupport
import StorageProjections
import Synchronization

@testable import StorageCore
@testable import StorageLog
@testable import StorageSubscriptions

/// Live aggregates of ``RoutedStore``'s rows beside what SQLite answers at the same position. Sums are compared with
/// another exact summation, over the numbers that SQLite makes of the values.
final class AggregateOracle: Sendable {
    typealias Row = [StorageValue]

    let spec: AggregateSpec
    private let handle: LiveHandle
    private let told: Told

    final class Told: Sendable {
        struct State {
            var rows: [AggregateRow] = []
            var error: StorageError?
            var errors = 0
            var steps = 0
        }

        let state = Mutex(State())

        func take(_ update: ListUpdate<AggregateRow>) {
            state.withLock { state in
                state.error = update.error
                if update.error != nil { state.errors += 1 }
                guard update.error == nil else { return }
                state.steps += update.changes.count
                update.difference.apply(to: &state.rows)
            }
        }
    }

    init(_ spec: AggregateSpec, _ engine: SubscriptionEngine) throws {
        self.spec = spec
        let told = Told()
        self.told = told
        handle = try engine.now { try $0.add(AggregateNode(spec), Outlet { told.take($0) }) }
    }

    var steps: Int { told.state.withLock { $0.steps } }
    var errors: Int { told.state.withLock { $0.errors } }

    // MARK: What is expected

    private static func collation(_ column: String) -> RowPredicate.Collation {
        SQLiteTable.columns.first { $0.name == column }?.collation ?? .binary
    }

    private static func areSame(_ left: StorageValue, _ right: StorageValue, _ column: String) -> Bool {
        SQLiteComparison.order(left, right, collation(column)) == 0
    }

    private func rows(_ text: QuerySQL.Text, _ db: GRDB.Database) throws -> [Row] {
        try text.run(db) { statement in
            let found = StatementRows(statement: statement)
            var rows: [Row] = []
            while try found.next() {
                rows.append((0..<sqlite3_column_count(statement)).map { found.row.value(at: $0) })
            }
            return rows
        }
    }

    /// - Returns: What is wrong; nil where nothing is.
    func fault(_ db: GRDB.Database) throws -> String? {
        let state = told.state.withLock { $0 }
        let query = try QuerySQL(spec.request, of: ListOracle.table)
        let meant = try rows(query.select(limit: spec.request.limit), db)
        let names = try spec.groups.map { try ListOracle.table.column(named: $0) }
        // Where there is a window SQLite sums up, not always exactly; otherwise sums are exact.
        let isExact = !spec.hasWindow
        var text = try query.aggregate(
            (names + ["count(*)"]
                + spec.terms.map {
                    $0.column == nil || $0.isSum && isExact ? "NULL" : try $0.sql(ListOracle.table)
                })
                .joined(separator: ", "))
        if !names.isEmpty {
            text.sql += " GROUP BY \(names.joined(separator: ", ")) ORDER BY \(names.joined(separator: ", "))"
        }
        let answers: [[StorageValue]]
        do {
            answers = try rows(text, db)
        } catch let error as StorageError where !isExact && error.message.contains("overflow") {
            return state.error == nil ? "no error: \(description)" : nil
        }
        var wanted: [[StorageValue?]] = []
        for answer in answers {
            let members = meant.filter { row in
                zip(spec.groups, answer).allSatisfy { Self.areSame(row[ListOracle.table.place(of: $0)!], $1, $0) }
            }
            wanted.append(
                try spec.terms.enumerated().map { place, term in
                    guard let column = term.column else { return answer[names.count] }
                    return term.isSum && isExact
                        ? try sum(column, members.map(\.[0]), isMean: term.function == .average, db)
                        : answer[names.count + 1 + place]
                })
        }
        if wanted.contains(where: { $0.contains(nil) }) {
            return state.error == nil ? "no error: \(description)" : nil
        }
        if let error = state.error { return "\(error): \(description)" }
        guard state.rows.count == answers.count else {
            return "\(state.rows.map(\.key)) and not \(answers) groups: \(description)"
        }
        for (row, (answer, values)) in zip(state.rows, zip(answers, wanted)) {
            let isSameKey = zip(spec.groups, zip(row.key, answer)).allSatisfy { Self.areSame($1.0, $1.1, $0) }
            guard isSameKey else { return "\(row.key) and not \(answer): \(description)" }
            for (term, (value, wanted)) in zip(spec.terms, zip(row.values, values)) {
                if isRight(term, value, wanted ?? .null, meant) { continue }
                return "\(term) of \(row.key): \(value) and not \(wanted ?? .null): \(description)"
            }
        }
        return nil
    }

    private var description: String { "\(spec.request) \(spec.groups)" }

    private func isRight(_ term: AggregateTerm, _ value: StorageValue, _ wanted: StorageValue, _ rows: [Row]) -> Bool {
        guard let column = term.column, term.function == .minimum || term.function == .maximum else {
            return value == wanted
        }
        // Of values that compare as equal any may be told, but one that a row has.
        guard value != .null else { return wanted == .null }
        let place = ListOracle.table.place(of: column)!
        return Self.areSame(value, wanted, column) && rows.contains { $0[place] == value }
    }

    /// Nil where it is beyond what SQLite can sum up.
    private func sum(
        _ column: String, _ keys: [StorageValue], isMean: Bool, _ db: GRDB.Database
    ) throws -> StorageValue? {
        let name = try ListOracle.table.column(named: column)
        var numbers: [Double] = []
        var whole: Int128 = 0
        var count = 0
        var isReal = false
        for key in keys {
            // A sum of one value is the value as the sum sees it.
            switch try QuerySQL.Text(sql: "SELECT sum(\(name)) FROM rows WHERE id = ?", values: [key]).value(db) {
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

/// Exact summation in another way: as numbers that don't overlap, after J. Shewchuk, rounded as in Python's `fsum`.
enum Partials {
    static func sum(_ numbers: [Double]) -> Double {
        if numbers.contains(where: { !$0.isFinite }) { return numbers.filter { !$0.isFinite }.reduce(0, +) }
        var partials: [Double] = []
        for number in numbers {
            var x = number
            var kept: [Double] = []
            for var y in partials {
                if abs(x) < abs(y) { swap(&x, &y) }
                let high = x + y
                let low = y - (high - x)
                if low != 0 { kept.append(low) }
                x = high
            }
            partials = kept + [x]
        }
        var place = partials.count - 1
        guard place >= 0 else { return 0 }
        var high = partials[place]
        var low = 0.0
        while place > 0, low == 0 {
            place -= 1
            let x = high
            high = x + partials[place]
            low = partials[place] - (high - x)
        }
        if place > 0, low != 0, (low < 0) == (partials[place - 1] < 0), partials[place - 1] != 0 {
            let twice = low * 2
            let x = high + twice
            if x - high == twice { high = x }
        }
        return high
    }
}
