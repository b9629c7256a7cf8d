internal import StorageCore

/// A column and what an update puts into it.
public struct ColumnAssignment: Sendable {
    let column: String
    let value: StorageValue
}

/// Gathers the assignments of an update, one a line.
@resultBuilder public enum AssignmentBuilder {
    public static func buildBlock(_ parts: [ColumnAssignment]...) -> [ColumnAssignment] { parts.flatMap { $0 } }
    public static func buildExpression(_ assignment: ColumnAssignment) -> [ColumnAssignment] { [assignment] }
    public static func buildOptional(_ part: [ColumnAssignment]?) -> [ColumnAssignment] { part ?? [] }
    public static func buildEither(first part: [ColumnAssignment]) -> [ColumnAssignment] { part }
    public static func buildEither(second part: [ColumnAssignment]) -> [ColumnAssignment] { part }
}
