/// A condition of a ``QueryBuilder``: what a field of a document is compared with.
public struct QueryFilter: Sendable, Equatable {
    /// The field's name, as in the document's JSON; dots lead into nested objects.
    public let field: String
    public let `operator`: QueryOperator
    /// What the field is compared with. An array where the operator takes several values.
    public let value: any DMCodableSendable

    public init(field: String, operator: QueryOperator, value: any DMCodableSendable) {
        self.field = field
        self.operator = `operator`
        self.value = value
    }

    /// Whether both say the same: values are compared as JSON, so 1 equals 1.0, and the order of an object's keys doesn't
    /// matter.
    public static func == (left: QueryFilter, right: QueryFilter) -> Bool {
        left.field == right.field && left.operator == right.operator && haveSameJSON(left.value, right.value)
    }
}
