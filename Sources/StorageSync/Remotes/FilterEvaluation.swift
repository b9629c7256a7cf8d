internal import StorageCore

/// Evaluates a condition of a query on documents.
struct FilterEvaluation: Sendable {
    private let path: [String]
    private let test: Test

    private enum Test {
        case equal(JSONValue)
        case notEqual(JSONValue)
        /// Compares with a value of the same kind; the closure receives the order of both.
        case order(against: JSONValue, isMet: @Sendable (Int) -> Bool)
        case containsAny(Set<JSONValue>)
        case isAny(Set<JSONValue>)
        case isNone(Set<JSONValue>)
    }

    init(_ filter: QueryFilter) throws {
        path = filter.field.fieldPath
        let value = try JSONValue(encoding: filter.value)
        func values() throws -> Set<JSONValue> {
            guard case .array(let values) = value else { throw StorageError.valuesMissing(filter) }
            return Set(values)
        }
        test =
            switch filter.operator {
            case .isEqualTo: .equal(value)
            case .isNotEqualTo: .notEqual(value)
            case .isGreaterThan: .order(against: value) { $0 > 0 }
            case .isGreaterThanOrEqualTo: .order(against: value) { $0 >= 0 }
            case .isLessThan: .order(against: value) { $0 < 0 }
            case .isLessThanOrEqualTo: .order(against: value) { $0 <= 0 }
            case .arrayContains: .containsAny([value])
            case .arrayContainsAny: .containsAny(try values())
            case .in: .isAny(try values())
            case .notIn: .isNone(try values())
            }
    }

    func matches(_ document: JSONValue) -> Bool {
        guard let field = document[path] else { return false }
        return switch test {
        case .equal(let value): field == value
        case .notEqual(let value): field != .null && field != value
        case .order(let value, let isMet):
            field != .null && field.kind == value.kind && isMet(JSONValue.order(field, value))
        case .containsAny(let values):
            if case .array(let elements) = field { elements.contains { values.contains($0) } } else { false }
        case .isAny(let values): values.contains(field)
        // As in SQL, it is unknown whether a value differs from null.
        case .isNone(let values): field != .null && !values.contains(.null) && !values.contains(field)
        }
    }
}

extension String {
    /// The keys that lead to a field of a document.
    var fieldPath: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension StorageError {
    fileprivate static func valuesMissing(_ filter: QueryFilter) -> StorageError {
        StorageError(
            .invalidArgument, "A condition on \"\(filter.field)\" takes several values, and has one.",
            remedy: "Give the operator \(filter.operator.rawValue) an array.")
    }
}
