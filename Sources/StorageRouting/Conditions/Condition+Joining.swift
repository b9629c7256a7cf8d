internal import StorageCore

/// Joins conditions into a normal form, so that equivalent conditions are mostly equal: flat, without duplicates,
/// sorted, and with ranges of one column intersected.
extension Condition {
    static func joined(all parts: [Condition]) -> Condition {
        var flat: [Condition] = []
        for part in parts {
            switch part {
            case .always: continue
            case .never: return .never
            case .all(let inner): flat += inner
            default: flat.append(part)
            }
        }
        flat = inOrder(intersected(flat))
        return flat.isEmpty ? .always : flat.count == 1 ? flat[0] : .all(flat)
    }

    static func joined(any parts: [Condition]) -> Condition {
        var flat: [Condition] = []
        for part in parts {
            switch part {
            case .never: continue
            case .always: return .always
            case .any(let inner): flat += inner
            default: flat.append(part)
            }
        }
        flat = inOrder(flat)
        return flat.isEmpty ? .never : flat.count == 1 ? flat[0] : .any(flat)
    }

    /// Ranges of the same column as one.
    private static func intersected(_ parts: [Condition]) -> [Condition] {
        var ranges: [ReadingIndex: (lower: Bound?, upper: Bound?)] = [:]
        var rest: [Condition] = []
        for part in parts {
            guard case .range(let reading, let lower, let upper) = part else {
                rest.append(part)
                continue
            }
            let known = ranges[reading]
            ranges[reading] = (
                stricter(known?.lower, lower, isUpper: false), stricter(known?.upper, upper, isUpper: true)
            )
        }
        return rest + ranges.map { .range($0.key, lower: $0.value.lower, upper: $0.value.upper) }
    }

    private static func stricter(_ one: Bound?, _ other: Bound?, isUpper: Bool) -> Bound? {
        guard let one, let other else { return one ?? other }
        if one.key == other.key { return one.isIncluded ? other : one }
        return one.key.lexicographicallyPrecedes(other.key) == isUpper ? one : other
    }

    private static func inOrder(_ parts: [Condition]) -> [Condition] {
        guard parts.count > 1 else { return parts }
        var known: Set<Condition> = []
        let distinct = parts.filter { known.insert($0).inserted }
        return distinct.map { ($0, $0.signature) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    /// The kinds of conditions in sort order. Text searches come after conjunctions and disjunctions.
    private enum Rank: UInt8 {
        case always, never, opaque, equal, among, range, null, like, notEqual, notAmong, notNull, notLike, columns
        case all, any, texts
    }

    /// The condition as bytes, for an order that is always the same.
    private var signature: [UInt8] {
        func bytes(_ rank: Rank, of reading: ReadingIndex, keys: [[UInt8]] = []) -> [UInt8] {
            [rank.rawValue] + number(reading.index) + keys.flatMap { number($0.count) + $0 }
        }
        func number(_ value: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
        }
        func bound(_ bound: Bound?) -> [UInt8] { bound.map { [$0.isIncluded ? 1 : 2] + $0.key } ?? [] }
        return switch self {
        case .always: [Rank.always.rawValue]
        case .never: [Rank.never.rawValue]
        case .opaque: [Rank.opaque.rawValue]
        case .equal(let reading, let key): bytes(.equal, of: reading, keys: [key])
        case .among(let reading, let keys): bytes(.among, of: reading, keys: keys)
        case .range(let reading, let lower, let upper): bytes(.range, of: reading, keys: [bound(lower), bound(upper)])
        case .null(let reading): bytes(.null, of: reading)
        case .like(let reading, let pattern): bytes(.like, of: reading, keys: [pattern.prefix])
        case .notEqual(let reading, let key): bytes(.notEqual, of: reading, keys: [key])
        case .notAmong(let reading, let keys): bytes(.notAmong, of: reading, keys: keys)
        case .notNull(let reading): bytes(.notNull, of: reading)
        case .notLike(let reading, let pattern): bytes(.notLike, of: reading, keys: [pattern.prefix])
        case .columns(let left, _, let right): bytes(.columns, of: left) + number(right.index)
        case .all(let parts): [Rank.all.rawValue] + parts.flatMap(\.signature)
        case .texts(let condition): [Rank.texts.rawValue] + condition.signature
        case .any(let parts): [Rank.any.rawValue] + parts.flatMap(\.signature)
        }
    }
}
