internal import StorageCore

/// A column and the value that an update assigns to it.
public struct StorageAssignment: Sendable {
    let column: String
    let value: StorageValue
}

/// Collects the assignments of an update, one for each line.
@resultBuilder public enum AssignmentBuilder {
    public static func buildBlock(_ parts: [StorageAssignment]...) -> [StorageAssignment] { parts.flatMap { $0 } }
    public static func buildExpression(_ assignment: StorageAssignment) -> [StorageAssignment] { [assignment] }
    public static func buildOptional(_ part: [StorageAssignment]?) -> [StorageAssignment] { part ?? [] }
    public static func buildEither(first part: [StorageAssignment]) -> [StorageAssignment] { part }
    public static func buildEither(second part: [StorageAssignment]) -> [StorageAssignment] { part }
}
