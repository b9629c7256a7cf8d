package import StorageCore

/// Turns predicates into ``Condition``s for the rows of one layout.
package struct ConditionCompiler {
    package let layout: RowLayout
    package let row: RowKeys

    package init(layout: RowLayout, row: RowKeys) {
        self.layout = layout
        self.row = row
    }

    /// - Throws: `invalid-name` for an unknown column.
    package func compile(_ predicate: RowPredicate, negated: Bool = false) throws -> Condition {
        switch predicate {
        case .constant(let answer): return answer.map { $0 != negated ? .always : .never } ?? .never
        case .comparison(let column, let comparison, .value(let value), let collation):
            return try compare(column, negated ? comparison.opposite : comparison, to: value, collation: collation)
        case .comparison(let column, let comparison, .column(let other), let collation):
            return try compare(column, negated ? comparison.opposite : comparison, with: other, collation: collation)
        case .isNull(let column):
            let reading = try nullReading(column)
            return negated ? .notNull(reading) : .null(reading)
        case .among(let column, let values): return try among(column, values, negated: negated)
        case .between(let column, let lower, let upper):
            let parts = try [
                compare(column, negated ? .less : .greaterOrEqual, to: lower, collation: nil),
                compare(column, negated ? .greater : .lessOrEqual, to: upper, collation: nil),
            ]
            return negated ? .joined(any: parts) : .joined(all: parts)
        case .like(let column, let pattern, let escape):
            let columnIndex = try layout.index(named: column)
            let reading = row.add(ColumnReading(columnIndex: columnIndex, conversion: .toText, collation: .noCase))
            let like = LikePattern(pattern, escape: escape)
            return negated ? .notLike(reading, like) : .like(reading, like)
        case .all(let parts):
            let parts = try parts.map { try compile($0, negated: negated) }
            return negated ? .joined(any: parts) : .joined(all: parts)
        case .any(let parts):
            let parts = try parts.map { try compile($0, negated: negated) }
            return negated ? .joined(all: parts) : .joined(any: parts)
        case .not(let part): return try compile(part, negated: !negated)
        case .sql: return .opaque
        }
    }

    /// A search, if texts can be split into words without the index; otherwise only the database can evaluate it.
    func compile(_ expression: SearchExpression) -> Condition {
        guard let tokenizer = layout.texts?.tokenizer, let condition = TextCondition(expression, tokenizer) else {
            return .opaque
        }
        return .texts(condition)
    }

    /// How a column is compared with a constant; nil if its collation isn't one of SQLite's own.
    func reading(_ column: String, _ collation: RowPredicate.Collation? = nil) throws -> ReadingIndex? {
        let columnIndex = try layout.index(named: column)
        guard let collation = collation ?? layout.columns[columnIndex].collation else { return nil }
        let affinity = layout.columns[columnIndex].affinity
        let conversion: ColumnReading.Conversion =
            affinity.isNumeric ? .toNumber : affinity == .text ? .toText : .none
        return row.add(ColumnReading(columnIndex: columnIndex, conversion: conversion, collation: collation))
    }

    private func nullReading(_ column: String) throws -> ReadingIndex {
        let columnIndex = try layout.index(named: column)
        return try reading(column, layout.columns[columnIndex].collation ?? .binary)
            ?? row.add(ColumnReading(columnIndex: columnIndex, conversion: .none, collation: .binary))
    }

    private func compare(
        _ column: String, _ comparison: RowPredicate.Comparison, to value: StorageValue,
        collation: RowPredicate.Collation?
    ) throws -> Condition {
        guard let reading = try reading(column, collation) else { return .opaque }
        guard let key = ComparisonKey.bytes(of: value, row[reading]) else {
            return switch comparison {
            case .same: .null(reading)
            case .different: .notNull(reading)
            default: .never
            }
        }
        return switch comparison {
        case .equal, .same: .equal(reading, to: key)
        case .notEqual: .notEqual(reading, to: key)
        case .different: .joined(any: [.null(reading), .notEqual(reading, to: key)])
        case .less: .range(reading, lower: nil, upper: .init(key: key, isIncluded: false))
        case .lessOrEqual: .range(reading, lower: nil, upper: .init(key: key, isIncluded: true))
        case .greater: .range(reading, lower: .init(key: key, isIncluded: false), upper: nil)
        case .greaterOrEqual: .range(reading, lower: .init(key: key, isIncluded: true), upper: nil)
        }
    }

    private func compare(
        _ column: String, _ comparison: RowPredicate.Comparison, with other: String,
        collation: RowPredicate.Collation?
    ) throws -> Condition {
        let (left, right) = try (layout.index(named: column), layout.index(named: other))
        guard let collation = collation ?? layout.columns[left].collation else { return .opaque }
        let isNumeric = layout.columns[left].affinity.isNumeric || layout.columns[right].affinity.isNumeric
        let conversion: ColumnReading.Conversion = isNumeric ? .toNumber : .none
        return .columns(
            row.add(ColumnReading(columnIndex: left, conversion: conversion, collation: collation)), comparison,
            with: row.add(ColumnReading(columnIndex: right, conversion: conversion, collation: collation)))
    }

    private func among(_ column: String, _ values: [StorageValue], negated: Bool) throws -> Condition {
        guard let reading = try reading(column) else { return values.isEmpty && !negated ? .never : .opaque }
        let keys = values.compactMap { ComparisonKey.bytes(of: $0, row[reading]) }
        let sorted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
        guard negated else {
            if sorted.isEmpty { return .never }
            return sorted.count == 1 ? .equal(reading, to: sorted[0]) : .among(reading, keys: sorted)
        }
        // `NOT IN` an empty list is true even for NULL; `NOT IN` a list with NULL is never true.
        if values.isEmpty { return .always }
        return keys.count < values.count ? .never : .notAmong(reading, keys: sorted)
    }
}

extension RowPredicate.Comparison {
    /// What is true where this one is false, and unknown where it is unknown.
    fileprivate var opposite: RowPredicate.Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        case .same: .different
        case .different: .same
        }
    }
}
