/// A JSON value.
///
/// Values are equal if they mean the same: numbers are compared exactly by value, so 1 equals 1.0, and 2^53 + 1 doesn't
/// equal the adjacent `Double`; texts are compared by their UTF-8 bytes, unlike `String`, for which "é" has two equal
/// spellings. Keys of an object are still `String`s.
///
/// Integers outside of `Int64`, and digits beyond the precision of a `Double`, are rounded when JSON is read.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])
}

extension JSONValue: Hashable {
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        // Doesn't need the sorted keys that the order of objects requires.
        case (.object(let a), .object(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        default: left.kind == right.kind && order(left, right) == 0
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        switch self {
        case .null: break
        case .bool(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let value):
            // A number that equals an integer must have the integer's hash; all NaNs are equal.
            if let whole = Int64(exactly: value) {
                hasher.combine(whole)
            } else {
                hasher.combine(value.isNaN ? .nan : value)
            }
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .array(let values): hasher.combine(values)
        case .object(let fields): hasher.combine(fields)
        }
    }
}

extension JSONValue {
    /// The value at a path of keys; nil if there is none.
    package subscript(path: some Sequence<String>) -> JSONValue? {
        var value = self
        for key in path {
            guard case .object(let fields) = value, let next = fields[key] else { return nil }
            value = next
        }
        return value
    }
}
