internal import StorageCore

/// The predominant kind of a column of rows from JSON: the kind of its first value.
///
/// The columns have no type in SQLite, so that `1` and `1.0` remain distinct. If an importer asks for it, those of texts, keys
/// among them, are `TEXT`, so that a query may write the text `42` as a number. The kind says how to interpret a stored value if
/// SQLite's storage class alone is ambiguous: `1` in a boolean column is `true`, and text in a JSON column is the source of a
/// JSON value. A value that would be misinterpreted, or that a text column would convert, is stored as the bytes of its JSON
/// source. A column of blobs, where those bytes would be a value of their own, refuses it.
package enum ImportedKind: String, Sendable {
    case boolean = "BOOLEAN"
    case integer = "INTEGER"
    case real = "REAL"
    case text = "TEXT"
    case blob = "BLOB"
    case json = "JSON"
}

/// How the catalog marks the columns of entities whose rows were imported from JSON.
package enum ImportedCoding {
    /// A column of the rows.
    package static let column = "json"
    /// The key, if the rows have no column `id` of their own.
    package static let key = "json key"
    /// The key, if each row repeats it as its own column `id`.
    package static let keyInRow = "json key in row"
}

extension Catalog {
    /// A name for the table of a new entity that data has named. SQLite folds case, and some names are reserved; such entities get
    /// another name there.
    package func storedTableName(of name: String) -> String {
        let first = ReservedNames.includes(name) ? "t_" + name : name
        var candidate = first
        var number = 2
        while entity(stored: candidate) != nil {
            candidate = "\(first)_\(number)"
            number += 1
        }
        return candidate
    }

    /// A name for a new column that differs from the others, whose names SQLite folds.
    package static func storedColumnName(of name: String, besides taken: inout Set<String>) -> String {
        var candidate = name
        var number = 2
        while !taken.insert(candidate.lowercasedASCII).inserted {
            candidate = "\(name)_\(number)"
            number += 1
        }
        return candidate
    }
}
