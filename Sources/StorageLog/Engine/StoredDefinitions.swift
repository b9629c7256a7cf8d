internal import StorageCore

/// The SQL of a file's tables, of their indexes and triggers, as the catalog records it.
///
/// It is read in one pass over `sqlite_schema`, without a look at any table's columns, and shows the schema as it was then.
package struct StoredDefinitions {
    package let database: Connection
    /// By the folded name of the table.
    private let objects: [ExactText: [SchemaRow]]

    /// - Parameter table: The only table to read; all where nil.
    package init(_ database: Connection, of table: String? = nil) throws {
        self.database = database
        let select = try PreparedStatement(database, table == nil ? SchemaRow.select : SchemaRow.selectOfTable)
        if let table { select.bind(text: table, at: 1) }
        var rows: [SchemaRow] = []
        while try select.step() { rows.append(SchemaRow(select)) }
        objects = Dictionary(grouping: rows, by: \.key)
    }

    /// The SQL of the table, then of its indexes and triggers, by name; nil if there is no such table.
    package func definition(of table: String) -> [String]? {
        SchemaRow.objects(ofTable: objects[table.folded] ?? [])?.map(\.definition)
    }
}
