package import StorageCore

/// One column of the catalog.
package struct CatalogColumn: Sendable, Equatable {
    package let id: UInt32
    package var name: String
    package var stored: String
    /// As the entity declares it. What SQLite makes of the column is its ``affinity``.
    package var type: String
    /// How SQLite converts the column's values and compares them with others. Derived from the type until the table has been
    /// inspected.
    package var affinity: ColumnAffinity
    /// The collation by which SQLite compares the column's texts.
    package var collation = Self.binary
    /// 1-based index in the primary key; 0 outside it.
    package var keyOrdinal: Int
    package var required: Bool
    /// The value for rows that were written before the column was added.
    package var fallback: StorageValue
    /// How values are to be interpreted beyond their storage class: `uuid` for the bytes of UUIDs; a text that begins with `json`
    /// for columns of imported histories; empty for plain columns.
    package var coding: String
    package var isDropped = false
    /// The column whose values were converted to this one's; 0 if there is none.
    package var origin: UInt32 = 0
    /// The title of the conversion.
    package var definition = ""

    /// The column for a predicate evaluator; a collation that it doesn't know becomes `BINARY`.
    package var evaluated: EvaluatedColumn {
        EvaluatedColumn(name: name, affinity: affinity, collation: knownCollation ?? .binary)
    }

    /// The collation; nil if it isn't one of SQLite's built-in ones.
    package var knownCollation: RowPredicate.Collation? { RowPredicate.Collation(rawValue: collation.uppercased()) }

    /// The collation that treats no two different texts as equal.
    package static let binary = "BINARY"

    package init(
        id: UInt32, name: String, stored: String? = nil, type: String, keyOrdinal: Int = 0, required: Bool = false,
        fallback: StorageValue = .null, coding: String = ""
    ) {
        self.id = id
        self.name = name
        self.stored = stored ?? name
        self.type = type
        affinity = ColumnAffinity(declaredType: type)
        self.keyOrdinal = keyOrdinal
        self.required = required
        self.fallback = fallback
        self.coding = coding
    }

    /// Whether the column holds values of any kind from an imported history; its table declares it without a type or as text.
    package var isImported: Bool { Self.isImported(coding) }
    package static func isImported(_ coding: String) -> Bool { coding.hasPrefix("json") }

    /// Whether the column stores a number as a number. Columns of imported histories that began with a text have SQLite's text
    /// affinity, so that `WHERE id = 42` finds the text `42`. SQLite would convert a number there to text, so a number is stored
    /// as the bytes of its JSON source, like every value that isn't of its column's kind.
    package var storesNumbers: Bool { !isImported || affinity != .text }
}
