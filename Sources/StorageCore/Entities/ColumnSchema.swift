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
    /// The value, as an SQL literal, that rows get if they are older than the column; nil for none.
    public let defaultValue: String?
    /// The value, as an SQL literal, that such rows get if the column is required and has no default: zero, an empty text. Nil
    /// if the property's type has no such value.
    public private(set) var neutralValue: String?

    /// How values are shown if not by their storage class: ``uuid``, or empty.
    public let coding: String

    /// The foreign key; nil if the column refers to no other entity.
    public private(set) var reference: ColumnReference?
    /// Whether the column is a part of an embedded value, so that a default of its own can't be declared.
    package var isPart = false
    /// The columns of the optional embedded value of which this one is a part, itself included; empty for other columns. The
    /// embedded value is nil where all of them are NULL.
    package var parts: [String] = []
    /// Whether the column holds a value where another one of ``parts`` does.
    package var isRequiredPart = false
    /// The other columns of the optional embedded value of which this one is a required part. Empty for other columns.
    package var siblings: [String] { isRequiredPart ? parts.filter { $0 != name } : [] }
    /// The columns of the embedded property with an initial value of which this one is a part, itself included: rows that are older
    /// than all of them can't get that value. Empty for other columns.
    package var partsOfInitialValue: [String] = []
    /// An error in the declaration that can't be known before the store is opened; nil if there is none.
    package let problem: String?
    /// An error that only matters if the column is created: one that the store has already may hold values that come back as
    /// they are. Nil if there is none.
    package var creationProblem: String?

    /// The ``coding`` of 16-byte blobs that are UUIDs: the command-line tool shows and accepts them as text.
    public static let uuid = "uuid"

    /// Creates a column whose SQL type determines its neutral value.
    public init(
        name: String, type: String, notNull: Bool = false, primaryKey: Bool = false, defaultValue: String? = nil,
        coding: String = "", reference: ColumnReference? = nil
    ) {
        self.init(
            name: name, type: type, notNull: notNull, primaryKey: primaryKey, defaultValue: defaultValue,
            neutralValue: Self.neutralValue(of: type), coding: coding, reference: reference)
    }

    /// Creates a column with a neutral value of its own; nil for none.
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

    /// Returns the neutral value for a column of an SQL type, as an SQL literal.
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
    package init(name: String = "?", type: String = "", problem: String) {
        self.name = name
        self.type = type
        notNull = false
        primaryKey = false
        defaultValue = nil
        neutralValue = nil
        coding = ""
        reference = nil
        self.problem = problem
    }

    /// Returns the column with a foreign key to another entity's table; the database then enforces that the row exists.
    public func referencing(_ table: String, onDelete rule: StorageDeleteRule) -> ColumnSchema {
        var column = self
        column.reference = ColumnReference(table: table, column: "id", onDelete: rule)
        return column
    }

    /// Returns the column without a neutral value, so that it isn't added to a table with a value that its property doesn't have.
    public func withoutNeutralValue() -> ColumnSchema {
        var column = self
        column.neutralValue = nil
        return column
    }
}

/// The columns of one table, in order.
public struct TableSchema: Sendable, Equatable {
    /// The table's name.
    public let name: String
    /// The columns, in order.
    public let columns: [ColumnSchema]

    /// Creates a schema from a table's name and columns.
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
    /// The table that is referred to.
    public let table: String
    /// The column of that table that is referred to: its primary key.
    public let column: String
    /// What happens to the referring row when the referenced row is deleted.
    public let onDelete: StorageDeleteRule

    /// Creates a foreign key.
    public init(table: String, column: String, onDelete: StorageDeleteRule) {
        self.table = table
        self.column = column
        self.onDelete = onDelete
    }
}

/// What happens to a row when the row that it refers to is deleted. The resulting changes are in the log.
public enum StorageDeleteRule: String, Sendable, Equatable {
    /// The referring row is deleted too.
    case cascade = "CASCADE"
    /// The referring column is set to NULL; it must be optional.
    case setNull = "SET NULL"
    /// The referenced row can't be deleted while another row refers to it.
    case restrict = "RESTRICT"
}
