/// How a ``QueryFilter`` compares a field with its value. The raw values are Firestore's names.
public enum QueryOperator: String, Sendable, Equatable {
    /// The field equals the value.
    case isEqualTo = "=="
    /// The field exists and has another value.
    case isNotEqualTo = "!="
    /// The field is greater than the value.
    case isGreaterThan = ">"
    /// The field is greater than or equal to the value.
    case isGreaterThanOrEqualTo = ">="
    /// The field is less than the value.
    case isLessThan = "<"
    /// The field is less than or equal to the value.
    case isLessThanOrEqualTo = "<="
    /// The field is an array that contains the value.
    case arrayContains = "array-contains"
    /// The field is an array that contains at least one of the values.
    case arrayContainsAny = "array-contains-any"
    /// The field equals one of the values.
    case `in` = "in"
    /// The field exists and has none of the values.
    case notIn = "not-in"
}
