/// A condition of a ``QueryBuilder``: compares a field of a document with a value.
public struct QueryFilter: Sendable, Equatable {
    /// The field's name, as in the document's JSON; dots lead into nested objects.
    public let field: String
    /// How the field is compared.
    public let `operator`: QueryOperator
    /// The value to compare with: an array if the operator takes several values.
    public let value: any DMCodableSendable

    /// Creates a condition.
    public init(field: String, operator: QueryOperator, value: any DMCodableSendable) {
        self.field = field
        self.operator = `operator`
        self.value = value
    }

    /// Whether both conditions are the same: values are compared as JSON, so 1 equals 1.0, and the order of an object's
    /// keys is irrelevant.
    public static func == (left: QueryFilter, right: QueryFilter) -> Bool {
        left.field == right.field && left.operator == right.operator && haveSameJSON(left.value, right.value)
    }
}
