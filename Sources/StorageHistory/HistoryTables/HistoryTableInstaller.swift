internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// The history as temporary tables of a connection, beside the store's own, so that SQL can query both: created when a query
/// names them, and removed when the connection is closed.
///
/// - `history_TABLE`: a row for each version, with the values that it had, and from which event to which. `_until` is NULL
///   where the version is that of a row that exists, and only there: what a delete removed is a version of no duration,
///   from its event to the same;
/// - `changes_TABLE`: a row for each event, with the values before and after;
/// - `commits`, or `storage_commits` where an entity has that name.
///
/// They are virtual tables, which read only the events that remain after the query's conditions on key, position, commit, time,
/// actor, reason and operation. See ``HistoryTableReader``.
///
/// A store's own tables and columns keep their names: a history table whose name is taken gets the prefix `storage_`, and a
/// column another leading `_`.
///
/// Not `Sendable`: it belongs to its connection's thread.
package struct HistoryTableInstaller {
    private let source: Connection
    private let shared: HistoryTableModule
    /// Whether values that a query gets from a view may have an affinity, from `CAST`.
    private let viewsCast: Bool
    var tables: [HistoryTable] { shared.tables }

    /// - Parameter source: A connection of the store, inside a read.
    package init(_ source: Connection) throws {
        self.source = source
        let catalog = try Catalog.load(source)
        var tables: [HistoryTable] = []
        var taken: Set<ExactText> = []
        let own = try PreparedStatement(source, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        while try own.step() { taken.insert(own.string(0).folded) }
        func free(_ name: String) -> String {
            var name = name
            while !taken.insert(name.folded).inserted { name = "storage_\(name)" }
            return name
        }
        let views = try PreparedStatement(
            source, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND sql LIKE '%cast%' LIMIT 1")
        viewsCast = try views.step()
        for entity in catalog.live {
            tables.append(HistoryTable(versionsOf: entity, named: free("history_\(entity.stored)")))
            tables.append(HistoryTable(changesOf: entity, named: free("changes_\(entity.stored)")))
        }
        for name in ["commits", "storage_commits"] where taken.insert(name.folded).inserted {
            tables.append(HistoryTable(commitsNamed: name))
        }
        shared = HistoryTableModule(source, catalog: catalog, tables: tables)
        try removeOthers()
    }

    /// Removes the tables that another installer has created on this connection: their content is outdated.
    private func removeOthers() throws {
        let select = try PreparedStatement(source, "SELECT name FROM sqlite_temp_schema WHERE type = 'table'")
        var others: [String] = []
        while try select.step() { others.append(select.string(0)) }
        for table in tables where others.contains(where: { $0.folded == table.name.folded }) {
            try source.allowingTemporaryObjects {
                try PreparedStatement(source, "DROP TABLE \(table.path)").execute()
            }
        }
    }

    /// The history tables whose usual name is taken by the store's own, and their actual names.
    package var hidden: [(name: String, instead: String)] {
        tables.compactMap { table in
            guard let entity = table.entity else { return nil }
            let name = "\(table.kind == .history ? "history" : "changes")_\(entity.stored)"
            return name == table.name ? nil : (name, table.name)
        }
    }

    /// The name of the table of an entity's versions, and that of its column of positions.
    package func name(ofHistoryOf entity: CatalogEntity) -> (table: String, position: String)? {
        tables.first { $0.kind == .history && $0.entity?.id == entity.id }.map { ($0.name, $0.columns[0]) }
    }

    /// The names of the tables that can be created.
    package var names: [String] { tables.map(\.name) }

    /// The error of the last statement's reading of the log; SQLite's own error has only its message.
    package var failure: (any Error)? { shared.failure }

    /// Prepares a query with the history tables that it names.
    ///
    /// - Throws: SQLite's error; `invalid-argument` if it isn't a single read-only query.
    package func statement(for sql: String) throws -> PreparedStatement {
        try prepare(sql).statement
    }

    /// A step of SQLite's plan: its number, the number of its parent step, and a description.
    package typealias PlanStep = (id: Int64, parent: Int64, detail: String)

    /// SQLite's plan for a query, and the names of the history tables of which the query would read every event. Nothing is read
    /// for it, so it returns at once.
    ///
    /// - Throws: SQLite's error; `invalid-argument` if it isn't a single read-only query.
    package func plan(for sql: String) throws -> (steps: [PlanStep], whole: [String]) {
        // Checked without the EXPLAIN prefix, after which the text could be anything.
        let (_, named) = try prepare(sql)
        let statement = try PreparedStatement(query: "EXPLAIN QUERY PLAN \(sql)", on: source)
        var steps: [PlanStep] = []
        while try statement.step() {
            steps.append((statement.integer(0), statement.integer(1), statement.string(3)))
        }
        let whole = named.filter { table in
            steps.contains { $0.detail.hasSuffix(":\(HistoryTablePlan.wholeText(of: table))") }
        }
        return (steps, whole.map(\.name))
    }

    private func prepare(_ sql: String) throws -> (statement: PreparedStatement, named: [HistoryTable]) {
        shared.mayCast = viewsCast || sql.range(of: "cast", options: .caseInsensitive) != nil
        shared.failure = nil
        var named: [HistoryTable] = []
        while true {
            do {
                return (try PreparedStatement(query: sql, on: source), named)
            } catch let error as StorageError {
                if let failure = shared.failure { throw failure }
                // SQLite knows exactly which names a query needs: it is asked until no missing table can be created.
                guard let index = tables.firstIndex(where: { error.missingTable?.folded == $0.name.folded }),
                    !named.contains(where: { $0.name == tables[index].name })
                else { throw error }
                try create(index)
                named.append(tables[index])
            }
        }
    }

    private func create(_ index: Int) throws {
        let table = tables[index]
        let columns = table.definitions.joined(separator: ", ")
        try checkWidth(table)
        let module = try shared.register()
        try source.allowingTemporaryObjects {
            try PreparedStatement(source, "CREATE VIRTUAL TABLE \(table.path) USING \(module)(\(index), \(columns))")
                .execute()
        }
    }
}

// MARK: Width

extension HistoryTableInstaller {
    /// A table of changes has two columns for each of the entity's, which can be more than SQLite allows.
    private func checkWidth(_ table: HistoryTable) throws {
        let limit = Int(sqlite3_limit(source.handle, SQLITE_LIMIT_COLUMN, -1))
        guard table.columns.count > limit, let entity = table.entity else { return }
        let versions = name(ofHistoryOf: entity)?.table ?? "history_\(entity.stored)"
        throw StorageError(
            .limitExceeded,
            "\"\(table.name)\" would have \(table.columns.count) columns, and SQLite allows \(limit).",
            remedy:
                "Ask \"\(versions)\", which has one for each column: what was before a change is the version that ends there."
        )
    }
}

// MARK: Times

extension HistoryTableInstaller {
    /// A time as text that SQLite's date functions read, and that sorts in the order of times.
    ///
    /// In the Gregorian calendar for every year, as SQLite and RFC 3339 have it; Foundation's format is in the Julian one before 1582.
    package static func time(_ microseconds: Int64) -> String {
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        var seconds = time_t((microseconds - fraction) / 1_000_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: some BinaryInteger, _ width: Int) -> String {
            let digits = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let day = "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        let clock = "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2))"
        return "\(day)T\(clock).\(digits(fraction, 6))Z"
    }
}

extension PreparedStatement {
    /// Runs the statement to its end with these parameter values.
    func execute(_ values: [StorageValue]) throws {
        try bind(values)
        try execute()
    }
}
