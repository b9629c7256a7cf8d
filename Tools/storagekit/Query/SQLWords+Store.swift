import StorageKit

extension SQLWords {
    /// The columns of history tables in addition to those of their entity.
    private static let historyColumns = [
        "_position", "_until", "_commit", "_time", "_actor", "_reason", "_op", "_changed", "number", "first", "last",
        "time", "actor", "app", "reason", "correlation", "events",
    ]

    /// Creates the names that queries on a store can use.
    init(_ store: HistoryReader) throws {
        let known = store.catalog.live.filter { !$0.isReserved }
        var tables = known.map { Table(name: $0.stored, columns: $0.live.map(\.stored)) }
        tables += try HistoryTableInstaller(store.connection).names.map { name in
            let own = known.filter { name.hasSuffix("_\($0.stored)") }.flatMap(\.live).map(\.stored)
            return Table(
                name: name,
                columns: Self.historyColumns
                    + (name.hasPrefix("changes_") ? own.flatMap { ["old_\($0)", "new_\($0)"] } : own),
                isHistory: true)
        }
        let others = try PreparedStatement(
            store.connection,
            """
            SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
              AND name NOT LIKE 'storage\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
            """)
        while try others.step() {
            let name = others.string(0)
            if !tables.contains(where: { $0.name == name }) { tables.append(Table(name: name, columns: [])) }
        }
        self.init(tables: tables)
    }
}
