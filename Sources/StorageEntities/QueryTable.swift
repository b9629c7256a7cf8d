internal import StorageCore
package import StorageLog

/// The columns of a table that queries read, by their names for users, and the key among them.
package struct QueryTable: Sendable, Hashable {
    /// A column's name for users, and in SQLite.
    package struct Column: Sendable, Hashable {
        package let name: String
        package let stored: String
    }

    /// The entity's name.
    package let name: String
    /// The table's name in SQLite.
    package let stored: String
    package let columns: [Column]
    /// The indices of the key's columns.
    package let key: [Int]

    package init(name: String, columns: [String], key: String) {
        self.name = name
        stored = name
        self.columns = columns.map { Column(name: $0, stored: $0) }
        self.key = columns.firstIndex(of: key).map { [$0] } ?? []
    }

    /// All columns of an entity whose type isn't known.
    package init(_ entity: CatalogEntity) {
        name = entity.name
        stored = entity.stored
        let live = entity.live
        columns = live.map { Column(name: $0.name, stored: $0.stored) }
        key = entity.key.compactMap { key in live.firstIndex { $0.id == key.id } }
    }

    /// The select of all columns, without its condition.
    package var select: String {
        "SELECT \(columns.map { quoted($0.stored) }.joined(separator: ", ")) FROM \(quoted(stored))"
    }

    package func columnIndex(of name: String) -> Int? { columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// A column's quoted name in SQL.
    ///
    /// - Throws: `invalid-name` for an unknown column.
    package func column(named name: String) throws -> String {
        quoted(columns[try index(of: name)].stored)
    }

    /// The index of a column.
    ///
    /// - Throws: `invalid-name` for an unknown column.
    package func index(of name: String) throws -> Int {
        if let index = columnIndex(of: name) { return index }
        if name.hasSuffix("?") {
            throw StorageError(
                .invalidName,
                "The column of a property of the embedded value \"\(name.dropLast(2))\" in \"\(self.name)\" can't be determined.",
                remedy:
                    "Only stored properties have columns; make the type of an enum CaseIterable, or name the column: StorageColumn(…)."
            )
        }
        throw StorageError(
            .invalidName, "\"\(self.name)\" has no column \"\(name)\".",
            remedy: "Use one of \(columns.map(\.name).joined(separator: ", ")).")
    }
}
