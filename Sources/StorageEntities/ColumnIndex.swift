internal import StorageCore
internal import StorageLog

/// An index that was created with a statement of its own, as SQLite keeps no column that an index uses.
struct ColumnIndex {
    let name: String
    /// The statement that creates it.
    let sql: String
    /// The indexed columns; nil for an expression.
    let columns: [String?]

    /// Whether it indexes nothing but a column.
    func consists(of column: CatalogColumn) -> Bool {
        columns.allSatisfy { $0?.lowercasedASCII == column.stored.lowercasedASCII }
    }

    /// Whether it may use a column: where a condition or an expression does, its statement contains the name.
    func mentions(_ column: CatalogColumn) -> Bool {
        let (text, name) = (sql.lowercasedASCII, column.stored.lowercasedASCII)
        return text.contains(name) || text.contains(name.doublingQuotes)
    }
}
