internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// The history as temporary tables of a connection, beside the store's own, so that SQL can ask both: made when a query
/// names them, and gone when the connection is closed.
///
/// - `history_TABLE`: a row for each version, with the values that it had, and from which event to which. `_until` is NULL
///   where the version is that of a row that exists, and only there: what a delete removed is a version of no duration,
///   from its event to the same;
/// - `changes_TABLE`: a row for each event, with the values before and after;
/// - `commits`, or `storage_commits` where an entity has that name.
///
/// The first two are virtual tables, which read those events only that the query's conditions on key, position, commit,
/// time, actor, reason and operation leave. See ``HistoryTableReader``.
///
/// What a store's own tables and columns are called goes first: a table of these whose name is taken is called
/// `storage_` and that name, a column has another `_` before it.
///
/// Not `Sendable`: it belongs to its connection's thread.
package struct HistoryTableInstaller {
    private let source: Connection
    private let shared: HistoryTableModule
    /// Whether a value that a query gets of a view may have an affinity, by `CAST`.
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

    /// Removes the tables that another has made on this connection: what they hold is as old as that.
    private func removeOthers() throws {
        let select = try PreparedStatement(source, "SELECT name FROM sqlite_temp_schema WHERE type = 'table'")
        var others: [String] = []
        while try select.step() { others.append(select.string(0)) }
        for table in tables where others.contains(where: { $0.folded == table.name.folded }) {
            try PreparedStatement(source, "DROP TABLE \(table.path)").execute()
        }
    }

    /// The tables whose name is taken by something of the store's own, and what they are called instead.
    package var hidden: [(name: String, instead: String)] {
        tables.compactMap { table in
            guard let entity = table.entity else { return nil }
            let name = "\(table.kind == .history ? "history" : "changes")_\(entity.stored)"
            return name == table.name ? nil : (name, table.name)
        }
    }

    /// What the table of an entity's versions is called, and its column of their positions.
    package func name(ofHistoryOf entity: CatalogEntity) -> (table: String, position: String)? {
        tables.first { $0.kind == .history && $0.entity?.id == entity.id }.map { ($0.name, $0.columns[0]) }
    }

    /// The names of the tables that can be made.
    package var names: [String] { tables.map(\.name) }

    /// What went wrong while the last statement read the log; SQLite's own error has its words only.
    package var failure: (any Error)? { shared.failure }

    /// The query, ready to run, beside the tables of history that it names.
    ///
    /// - Throws: What SQLite says of it; `invalid-argument` where it isn't one query that only reads.
    package func statement(for sql: String) throws -> PreparedStatement {
        let (statement, named) = try prepare(sql)
        for table in named where table.kind == .commits { try fill(table) }
        return statement
    }

    /// A step of SQLite's plan: its number, that of the step that it is a part of, and what is done.
    package typealias PlanStep = (id: Int64, parent: Int64, detail: String)

    /// What SQLite would do for the query, and the names of the tables of history of which it would read every event.
    /// Nothing is read for it, so that the answer comes at once.
    ///
    /// - Throws: What SQLite says of the query; `invalid-argument` where it isn't one query that only reads.
    package func plan(for sql: String) throws -> (steps: [PlanStep], whole: [String]) {
        // By itself it is one query; behind the other words it could be anything.
        let (_, named) = try prepare(sql)
        let statement = try PreparedStatement(query: "EXPLAIN QUERY PLAN \(sql)", on: source)
        var steps: [PlanStep] = []
        while try statement.step() {
            steps.append((statement.integer(0), statement.integer(1), statement.string(3)))
        }
        let whole = named.filter { table in
            table.kind == .commits || steps.contains { $0.detail.hasSuffix(HistoryTablePlan.wholeText(of: table)) }
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
                // SQLite knows best what a query names, so it is asked until it misses nothing that can be made.
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
        guard table.kind != .commits else {
            return try PreparedStatement(source, "CREATE TABLE \(table.path)(\(columns))").execute()
        }
        let module = try shared.register()
        try PreparedStatement(source, "CREATE VIRTUAL TABLE \(table.path) USING \(module)(\(index), \(columns))")
            .execute()
    }
}

// MARK: Commits

extension HistoryTableInstaller {
    private func fill(_ table: HistoryTable) throws {
        let placeholders = table.columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try PreparedStatement(source, "INSERT INTO \(table.path) VALUES (\(placeholders))")
        let extend = try PreparedStatement(
            source, "UPDATE \(table.path) SET last = ?2, events = events + ?3 WHERE number = ?1")
        let log = LogReader(source)
        let head = try log.head().position
        guard head > 0 else { return }
        var last: Int64 = 0
        try log.forEachBatch(in: 1...head) { batch in
            for part in batch.commits {
                let first = batch.header.first + Int64(part.events.lowerBound)
                let end = batch.header.first + Int64(part.events.upperBound) - 1
                if part.info.number == last {
                    extend.bind(last, at: 1)
                    extend.bind(end, at: 2)
                    extend.bind(Int64(part.events.count), at: 3)
                    try extend.execute()
                    continue
                }
                last = part.info.number
                let metadata = part.info.metadata
                let texts = [metadata.actor, metadata.app, metadata.reason, metadata.correlation]
                try insert.execute(
                    [
                        .integer(last), .integer(first), .integer(end), .text(Self.time(part.info.time)),
                    ] + texts.map { $0.map(StorageValue.text) ?? .null } + [.integer(Int64(part.events.count))])
            }
            return true
        }
    }

    /// Text that SQLite's date functions read, and that comes in the order of the times.
    package static func time(_ microseconds: Int64) -> String {
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let seconds = Date(timeIntervalSince1970: Double((microseconds - fraction) / 1_000_000))
        let digits = String(fraction)
        let zeros = String(repeating: "0", count: 6 - digits.count)
        return "\(seconds.formatted(.iso8601).dropLast()).\(zeros)\(digits)Z"
    }
}

extension PreparedStatement {
    /// Runs the statement to its end with these values as parameters.
    func execute(_ values: [StorageValue]) throws {
        try bind(values)
        try execute()
    }
}
