internal import StorageCore

/// Conditions joined so that what means the same mostly looks the same: flat, without repetitions, in one order, ranges
/// of one column taken together.
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
        var ranges: [Int: (lower: Bound?, upper: Bound?)] = [:]
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

    /// The condition as bytes, for an order that is always the same.
    private var signature: [UInt8] {
        func bytes(_ rank: UInt8, _ reading: Int, _ keys: [[UInt8]] = []) -> [UInt8] {
            [rank] + number(reading) + keys.flatMap { number($0.count) + $0 }
        }
        func number(_ value: Int) -> [UInt8] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: value).bigEndian) { Array($0) }
        }
        func bound(_ bound: Bound?) -> [UInt8] { bound.map { [$0.isIncluded ? 1 : 2] + $0.key } ?? [] }
        return switch self {
        case .always: [0]
        case .never: [1]
        case .opaque: [2]
        case .equal(let reading, let key): bytes(3, reading, [key])
        case .among(let reading, let keys): bytes(4, reading, keys)
        case .range(let reading, let lower, let upper): bytes(5, reading, [bound(lower), bound(upper)])
        case .null(let reading): bytes(6, reading)
        case .like(let reading, let pattern): bytes(7, reading, [pattern.prefix])
        case .notEqual(let reading, let key): bytes(8, reading, [key])
        case .notAmong(let reading, let keys): bytes(9, reading, keys)
        case .notNull(let reading): bytes(10, reading)
        case .notLike(let reading, let pattern): bytes(11, reading, [pattern.prefix])
        case .columns(let left, _, let right): bytes(12, left) + number(right)
        case .all(let parts): [13] + parts.flatMap(\.signature)
        case .texts(let condition): [15] + condition.signature
        case .any(let parts): [14] + parts.flatMap(\.signature)
        }
    }
}
