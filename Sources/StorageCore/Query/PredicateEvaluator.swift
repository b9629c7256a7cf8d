/// Evaluates a condition on rows in memory, exactly as SQLite would.
///
/// Columns are looked up once, by the initialiser; a row is an array of values in the order of those columns.
package struct PredicateEvaluator: Sendable {
    private indirect enum Node: Sendable {
        case constant(Bool?)
        case value(Int, RowPredicate.Comparison, StorageValue, RowPredicate.Collation)
        case columns(Int, RowPredicate.Comparison, Int, RowPredicate.Collation)
        case isNull(Int)
        case among(Int, [StorageValue])
        case like(Int, LikePattern)
        case all([Node])
        case any([Node])
        case not(Node)
    }

    private let root: Node
    private let columns: [EvaluatedColumn]

    /// - Throws: `invalid-name` for an unknown column, `invalid-argument` for a condition that contains SQL.
    package init(_ predicate: RowPredicate, columns: [EvaluatedColumn]) throws {
        self.columns = columns
        root = try Self.node(predicate, columns)
    }

    private static func node(_ predicate: RowPredicate, _ columns: [EvaluatedColumn]) throws -> Node {
        func index(_ name: String) throws -> Int {
            if let index = columns.firstIndex(where: { $0.name == name }) { return index }
            throw StorageError(
                .invalidName, "There is no column \"\(name)\".",
                remedy: StorageError.existing(columns.map(\.name)))
        }
        switch predicate {
        case .constant(let answer): return .constant(answer)
        case .comparison(let column, let comparison, .value(let value), let collation):
            let left = try index(column)
            return .value(left, comparison, value, collation ?? columns[left].collation)
        case .comparison(let column, let comparison, .column(let other), let collation):
            let left = try index(column)
            return .columns(left, comparison, try index(other), collation ?? columns[left].collation)
        case .isNull(let column): return .isNull(try index(column))
        case .among(let column, let values): return .among(try index(column), values)
        case .between(let column, let lower, let upper):
            let left = try index(column)
            return .all([
                .value(left, .greaterOrEqual, lower, columns[left].collation),
                .value(left, .lessOrEqual, upper, columns[left].collation),
            ])
        case .like(let column, let pattern, let escape):
            return .like(try index(column), LikePattern(pattern, escape: escape))
        case .all(let parts): return .all(try parts.map { try node($0, columns) })
        case .any(let parts): return .any(try parts.map { try node($0, columns) })
        case .not(let part): return .not(try node(part, columns))
        case .sql:
            throw StorageError(
                .invalidArgument, "A condition with SQL of its own can't be evaluated without a database.",
                remedy: "Use columns and operators.")
        }
    }

    /// True, false, or nil for unknown.
    package func evaluate(_ row: [StorageValue]) -> Bool? { answer(root, row) }

    private func answer(_ node: Node, _ row: [StorageValue]) -> Bool? {
        switch node {
        case .constant(let answer): return answer
        case .value(let column, let comparison, let value, let collation):
            return compare(
                row[column], of: columns[column].affinity, comparison, with: value, of: nil, by: collation)
        case .columns(let left, let comparison, let right, let collation):
            return compare(
                row[left], of: columns[left].affinity, comparison, with: row[right], of: columns[right].affinity,
                by: collation)
        case .isNull(let column): return row[column] == .null
        case .among(let column, let values):
            guard !values.isEmpty else { return false }
            var isUnknown = false
            for value in values {
                switch compare(
                    row[column], of: columns[column].affinity, .equal, with: value, of: nil,
                    by: columns[column].collation)
                {
                case true: return true
                case nil: isUnknown = true
                default: break
                }
            }
            return isUnknown ? nil : false
        case .like(let column, let pattern):
            switch SQLiteNumber.text(row[column]) {
            case .text(let text): return pattern.matches(text)
            // SQLite is built on all our systems so that a blob never matches LIKE.
            case .blob: return false
            default: return nil
            }
        case .all(let parts):
            var isUnknown = false
            for part in parts {
                switch answer(part, row) {
                case false: return false
                case nil: isUnknown = true
                default: break
                }
            }
            return isUnknown ? nil : true
        case .any(let parts):
            var isUnknown = false
            for part in parts {
                switch answer(part, row) {
                case true: return true
                case nil: isUnknown = true
                default: break
                }
            }
            return isUnknown ? nil : false
        case .not(let part): return answer(part, row).map { !$0 }
        }
    }

    private func compare(
        _ a: StorageValue, of left: ColumnAffinity, _ comparison: RowPredicate.Comparison, with b: StorageValue,
        of right: ColumnAffinity?, by collation: RowPredicate.Collation
    ) -> Bool? {
        if a == .null || b == .null {
            switch comparison {
            case .same: return a == b
            case .different: return a != b
            default: return nil
            }
        }
        let (a, b) = SQLiteComparison.converted(a, of: left, with: b, of: right)
        return comparison.holds(for: SQLiteComparison.order(a, b, by: collation))
    }
}

/// Sorts rows in memory exactly as SQLite would.
package struct RowComparator: Sendable {
    private let terms: [(index: Int, isDescending: Bool, collation: RowPredicate.Collation)]

    package init(_ orderings: [RowOrdering], columns: [EvaluatedColumn]) throws {
        terms = try orderings.map { ordering in
            guard let index = columns.firstIndex(where: { $0.name == ordering.column }) else {
                throw StorageError(
                    .invalidName, "There is no column \"\(ordering.column)\".",
                    remedy: StorageError.existing(columns.map(\.name)))
            }
            return (index, ordering.order == .descending, ordering.collation ?? columns[index].collation)
        }
    }

    /// Negative, zero or positive if `left` sorts before, equal to or after `right`.
    package func order(_ left: [StorageValue], _ right: [StorageValue]) -> Int {
        for term in terms {
            let order = SQLiteComparison.order(left[term.index], right[term.index], by: term.collation)
            if order != 0 { return term.isDescending ? -order : order }
        }
        return 0
    }
}
