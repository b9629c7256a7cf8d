/// One column as an entity declares it.
public struct ColumnSchema: Sendable, Equatable {
    /// The column's name, as written in the entity.
    public let name: String
    /// The declared SQL type: `TEXT`, `INTEGER`, `REAL`, `BOOLEAN`, `DATETIME` or `BLOB`.
    public let type: String
    public let notNull: Bool
    public let primaryKey: Bool
    /// An SQL literal that stands for the value of rows older than the column.
    public let defaultValue: String?

    public init(
        name: String, type: String, notNull: Bool = false, primaryKey: Bool = false, defaultValue: String? = nil
    ) {
        self.name = name
        self.type = type
        self.notNull = notNull
        self.primaryKey = primaryKey
        self.defaultValue = defaultValue
    }
}

/// The columns of one table, in order.
public struct TableSchema: Sendable, Equatable {
    public let name: String
    public let columns: [ColumnSchema]

    public init(name: String, columns: [ColumnSchema]) {
        self.name = name
        self.columns = columns
    }

    public func column(named name: String) -> ColumnSchema? {
        columns.first { $0.name == name }
    }
}
