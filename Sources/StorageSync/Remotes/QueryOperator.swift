/// How a ``QueryFilter`` compares a field with its value. The raw values are Firestore's names.
public enum QueryOperator: String, Sendable, Equatable {
    case isEqualTo = "=="
    case isNotEqualTo = "!="
    case isGreaterThan = ">"
    case isGreaterThanOrEqualTo = ">="
    case isLessThan = "<"
    case isLessThanOrEqualTo = "<="
    case arrayContains = "array-contains"
    case arrayContainsAny = "array-contains-any"
    case `in` = "in"
    case notIn = "not-in"
}
