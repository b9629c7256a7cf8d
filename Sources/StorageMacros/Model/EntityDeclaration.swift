/// A validated entity declaration.
struct EntityDeclaration {
    /// The struct's name as Swift code writes it.
    let name: String
    /// The name of its companion.
    let recordName: String
    let access: AccessLevel
    /// The struct's own access modifier: inside `public extension`, the compiler warns of a second `public`.
    let statedAccess: AccessLevel?
    /// The `@available` attributes, which the companion must have too.
    let availability: [String]
    let table: String
    /// Every stored property, in the order of declaration.
    let properties: [StoredProperty]

    /// Whether the entity declares its own `updatedAt`, so that the record adds none.
    var declaresUpdatedAt: Bool { properties.contains { $0.role.isStored && $0.column == Self.updatedAt } }

    static let updatedAt = "updatedAt"
    /// Types that every record declares: inside it, these names can't refer to other types.
    static let typesOfRecords: Set<String> = ["ColumnName", "Columns", "E"]
}
