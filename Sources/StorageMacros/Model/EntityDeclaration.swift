/// What the macro knows of a struct once nothing in it stands in the way.
struct EntityDeclaration {
    /// The struct's name as Swift code writes it.
    let name: String
    /// The name of its companion.
    let recordName: String
    let access: AccessLevel
    /// The level that the struct itself states: inside `public extension`, the compiler warns of a second `public`.
    let statedAccess: AccessLevel?
    /// The `@available` attributes, which must stand on the companion too.
    let availability: [String]
    let table: String
    /// Every stored property, in the order of declaration.
    let properties: [StoredProperty]

    /// The entity keeps its own `updatedAt`, so the record adds none.
    var declaresUpdatedAt: Bool { properties.contains { $0.role.isStored && $0.column == Self.updatedAt } }

    static let updatedAt = "updatedAt"
    /// The types that every record has: inside it, their names mean no others.
    static let typesOfRecords: Set<String> = ["ColumnName", "Columns", "E"]
}
