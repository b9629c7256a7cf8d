import StorageCore

/// What a column of an imported history mostly holds: the kind of its first value.
///
/// The columns have no type in SQLite, so that `1` and `1.0` stay apart. The kind says how a stored value is to be
/// understood where SQLite's storage class alone doesn't tell: `1` in a boolean column is `true`, text in a JSON column
/// is the source of a JSON value. A value that would be misunderstood is kept as the bytes of its JSON source.
enum ImportedKind: String {
    case boolean = "BOOLEAN"
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case blob = "BLOB"
    case json = "JSON"

    /// Nil for null, which tells nothing.
    init?(_ value: JSONValue) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .integer: self = .integer
        case .real: self = .real
        case .text: self = .text
        case .blob: self = .blob
        case .json: self = .json
        }
    }
}

/// How the columns of imported entities are marked in the catalog.
enum ImportedCoding {
    /// A column of the rows.
    static let column = "json"
    /// The key, where the rows have no column `id` of their own.
    static let key = "json key"
    /// The key, where each row repeats it as its own column `id`.
    static let keyInRow = "json key in row"
}
