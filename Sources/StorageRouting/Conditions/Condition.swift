internal import Foundation
package import StorageCore

/// A predicate in the form that is evaluated and indexed: without negations, and with constants as comparison keys.
///
/// Negations are pushed down to the comparisons, where SQL's three-valued logic allows it without loss (`NOT a < b` is
/// `a >= b`). Only AND and OR remain, for which unknown counts as false: a row matters only if the result is true. So
/// two truth values suffice here.
package indirect enum Condition: Hashable {
    case always
    case never
    /// SQL that only a database can evaluate: counts as true, so that no change is missed.
    case opaque
    case equal(ReadingIndex, to: [UInt8])
    case notEqual(ReadingIndex, to: [UInt8])
    /// The keys are sorted.
    case among(ReadingIndex, keys: [[UInt8]])
    case notAmong(ReadingIndex, keys: [[UInt8]])
    case range(ReadingIndex, lower: Bound?, upper: Bound?)
    case null(ReadingIndex)
    case notNull(ReadingIndex)
    case like(ReadingIndex, LikePattern)
    case notLike(ReadingIndex, LikePattern)
    case columns(ReadingIndex, RowPredicate.Comparison, with: ReadingIndex)
    /// Of the words of the columns that the full-text index holds.
    case texts(TextCondition)
    case all([Condition])
    case any([Condition])

    package struct Bound: Hashable {
        let key: [UInt8]
        let isIncluded: Bool
    }
}

// MARK: Evaluation

extension Condition {
    /// Whether the condition is true of a row. Readings are those of `row`.
    func isTrue(_ row: RowKeys, _ image: RowKeys.Image) -> Bool {
        switch self {
        case .always, .opaque: return true
        case .never: return false
        case .equal(let reading, let key): return row.key(reading, image).map { Self.order($0, key) == 0 } ?? false
        case .notEqual(let reading, let key): return row.key(reading, image).map { Self.order($0, key) != 0 } ?? false
        case .among(let reading, let keys): return row.key(reading, image).map { Self.holds(keys, $0) } ?? false
        case .notAmong(let reading, let keys): return row.key(reading, image).map { !Self.holds(keys, $0) } ?? false
        case .range(let reading, let lower, let upper):
            guard let key = row.key(reading, image) else { return false }
            return Self.isIn(key, lower: lower, upper: upper)
        case .null(let reading): return row.key(reading, image) == nil
        case .notNull(let reading): return row.key(reading, image) != nil
        case .like(let reading, let pattern): return row.key(reading, image).map { Self.fits($0, pattern) } ?? false
        case .notLike(let reading, let pattern):
            return row.key(reading, image).map { !Self.fits($0, pattern) } ?? false
        case .columns(let left, let comparison, let right):
            return Self.compare(left, comparison, with: right, in: row, of: image)
        // True if texts aren't split into words; there are no negations around it.
        case .texts(let condition): return row.isQuick || condition.isTrue(row.words(image))
        case .all(let parts):
            for part in parts where !part.isTrue(row, image) { return false }
            return true
        case .any(let parts):
            for part in parts where part.isTrue(row, image) { return true }
            return false
        }
    }

    private static func order(_ key: UnsafeRawBufferPointer, _ constant: [UInt8]) -> Int {
        constant.withUnsafeBytes { ComparisonKey.order(key, $0) }
    }

    private static func isIn(_ key: UnsafeRawBufferPointer, lower: Bound?, upper: Bound?) -> Bool {
        if let lower {
            let order = order(key, lower.key)
            if order < 0 || order == 0 && !lower.isIncluded { return false }
        }
        if let upper {
            let order = order(key, upper.key)
            if order > 0 || order == 0 && !upper.isIncluded { return false }
        }
        return true
    }

    private static func holds(_ keys: [[UInt8]], _ key: UnsafeRawBufferPointer) -> Bool {
        let index = keys.partitioningIndex { order(key, $0) <= 0 }
        return index < keys.count && order(key, keys[index]) == 0
    }

    /// A blob is like nothing, as SQLite is built on all our systems.
    private static func fits(_ key: UnsafeRawBufferPointer, _ pattern: LikePattern) -> Bool {
        key[0] == ComparisonKey.Kind.text && pattern.matches(UnsafeRawBufferPointer(rebasing: key[1...]))
    }

    private static func compare(
        _ left: ReadingIndex, _ comparison: RowPredicate.Comparison, with right: ReadingIndex, in row: RowKeys,
        of image: RowKeys.Image
    ) -> Bool {
        guard let keys = row.keys(left, right, of: image) else {
            let areSame = (row.key(left, image) == nil) == (row.key(right, image) == nil)
            return comparison == .same ? areSame : comparison == .different ? !areSame : false
        }
        return comparison.holds(for: ComparisonKey.order(keys.0, keys.1))
    }
}

// MARK: What it is made of

extension Condition {
    /// Whether a part of it can't be answered without a database.
    package var isOpaque: Bool {
        switch self {
        case .opaque: true
        case .all(let parts), .any(let parts): parts.contains(where: \.isOpaque)
        default: false
        }
    }

    /// The columns that the answer depends on.
    func columns(_ row: RowKeys) -> ColumnMask {
        switch self {
        case .always, .never: return .none
        case .opaque: return .all
        case .equal(let reading, _), .notEqual(let reading, _), .among(let reading, _), .notAmong(let reading, _),
            .range(let reading, _, _), .null(let reading), .notNull(let reading), .like(let reading, _),
            .notLike(let reading, _):
            return row.columns(of: reading)
        case .columns(let left, _, let right):
            var mask = row.columns(of: left)
            mask.formUnion(row.columns(of: right))
            return mask
        case .texts: return row.columns(of: .words)
        case .all(let parts), .any(let parts):
            var mask = ColumnMask.none
            for part in parts { mask.formUnion(part.columns(row)) }
            return mask
        }
    }
}
