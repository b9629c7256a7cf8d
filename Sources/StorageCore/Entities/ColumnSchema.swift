/// One column as an entity declares it.
public struct ColumnSchema: Sendable, Equatable {
    /// The column's name, as written in the entity.
    public let name: String
    /// The declared SQL type: `TEXT`, `INTEGER`, `REAL`, `BOOLEAN`, `DATETIME` or `BLOB`.
    public let type: String
    /// Whether the column rejects NULL.
    public let notNull: Bool
    /// Whether the column is the primary key.
    public let primaryKey: Bool
    /// An SQL literal for the value of rows that are older than the column.
    public let defaultValue: String?
    /// An SQL literal for that value if the column is required and has no default: zero, an empty text. Nil if the property's
    /// type has no such value.
    public let neutralValue: String?

    /// How values are shown beyond their storage class: ``uuid``, or nothing.
    public let coding: String

    /// The row of another entity that the column refers to.
    public let reference: ColumnReference?
    /// The other columns of the optional embedded value of which this one is a required part: where one of them holds a value,
    /// so does this one. Empty for other columns.
    package var siblings: [String] = []
    /// An error in the declaration that can't be known before the store is opened; nil if there is none.
    package let problem: String?

    /// The ``coding`` of 16-byte blobs that are UUIDs: the command-line tool shows and accepts them as text.
    public static let uuid = "uuid"

    /// Creates a column.
    public init(
        name: String, type: String, notNull: Bool = false, primaryKey: Bool = false, defaultValue: String? = nil,
        coding: String = "", reference: ColumnReference? = nil
    ) {
        self.init(
            name: name, type: type, notNull: notNull, primaryKey: primaryKey, defaultValue: defaultValue,
            neutralValue: Self.neutralValue(of: type), coding: coding, reference: reference)
    }

    /// Creates a column whose type determines its neutral value, if it has one.
    public init(
        name: String, type: String, notNull: Bool, primaryKey: Bool = false, defaultValue: String?,
        neutralValue: String?, coding: String = "", reference: ColumnReference? = nil
    ) {
        self.name = name
        self.type = type
        self.notNull = notNull
        self.primaryKey = primaryKey
        self.defaultValue = defaultValue
        self.neutralValue = neutralValue
        self.coding = coding
        self.reference = reference
        problem = nil
    }

    /// The neutral value for a column of an SQL type.
    public static func neutralValue(of type: String) -> String {
        switch type {
        case "TEXT": "''"
        case "BLOB": "x''"
        case "REAL": "0.0"
        case "DATETIME": "'2001-01-01 00:00:00.000'"
        default: "0"
        }
    }

    /// A column with an invalid declaration.
    package init(problem: String) {
        name = "?"
        type = ""
        notNull = false
        primaryKey = false
        defaultValue = nil
        neutralValue = nil
        coding = ""
        reference = nil
        self.problem = problem
    }

    /// The same column, referring to the key of another entity's table: the database enforces that the row exists.
    public func referencing(_ table: String, onDelete rule: StorageDeleteRule) -> ColumnSchema {
        ColumnSchema(
            name: name, type: type, notNull: notNull, primaryKey: primaryKey, defaultValue: defaultValue,
            neutralValue: neutralValue, coding: coding,
            reference: ColumnReference(table: table, column: "id", onDelete: rule))
    }
}

/// The columns of one table, in order.
public struct TableSchema: Sendable, Equatable {
    /// The table's name.
    public let name: String
    /// The columns, in order.
    public let columns: [ColumnSchema]

    /// Creates a schema.
    public init(name: String, columns: [ColumnSchema]) {
        self.name = name
        self.columns = columns
    }

    /// Returns the column with a name; nil if there is none.
    public func column(named name: String) -> ColumnSchema? {
        columns.first { $0.name == name }
    }
}

/// A foreign key.
public struct ColumnReference: Sendable, Equatable {
    /// The table that the column refers to.
    public let table: String
    /// Its column, which is its primary key.
    public let column: String
    /// What happens to the referring row when the other one is deleted.
    public let onDelete: StorageDeleteRule

    /// Creates a foreign key.
    public init(table: String, column: String, onDelete: StorageDeleteRule) {
        self.table = table
        self.column = column
        self.onDelete = onDelete
    }
}

/// What happens to a row when the row that it refers to is deleted. The resulting changes are part of the log.
public enum StorageDeleteRule: String, Sendable, Equatable {
    /// It is deleted too.
    case cascade = "CASCADE"
    /// Its column is set to NULL; the column must be optional.
    case setNull = "SET NULL"
    /// The other row can't be deleted while this one refers to it.
    case restrict = "RESTRICT"
}
