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
/// What a store's own tables and columns are called goes first: a table of these whose name is taken is called
/// `storage_` and that name, a column has another `_` before it.
///
/// Not `Sendable`: it belongs to its connection's thread.
package struct HistoryTables {
    fileprivate enum Kind { case history, changes, commits }

    fileprivate struct Table {
        let name: String
        let kind: Kind
        let entity: CatalogEntity?
        let columns: [String]
        /// Columns that compare as those of the entity's table do, with their affinity.
        var affinities: [ExactText: ColumnAffinity] = [:]
        /// The table as statements name it.
        var path: String { "temp.\(quoted(name))" }
    }

    private let source: Connection
    private let catalog: Catalog
    private let tables: [Table]

    private static let versionColumns = ["_position", "_until", "_commit", "_time", "_actor", "_reason", "_op"]
    private static let changeColumns = ["_position", "_commit", "_time", "_actor", "_reason", "_op", "_changed"]
    private static let commitColumns = [
        "number", "first", "last", "time", "actor", "app", "reason", "correlation", "events",
    ]

    /// - Parameter source: A connection of the store, inside a read.
    package init(_ source: Connection) throws {
        self.source = source
        catalog = try Catalog.load(source)
        var tables: [Table] = []
        var taken: Set<ExactText> = []
        let own = try PreparedStatement(source, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
        while try own.step() { taken.insert(own.string(0).folded) }
        func free(_ name: String) -> String {
            var name = name
            while !taken.insert(name.folded).inserted { name = "storage_\(name)" }
            return name
        }
        for entity in catalog.live {
            let names = entity.live.map(\.stored)
            let keys = entity.key.map(\.stored)
            let others = entity.live.filter { $0.keyOrdinal == 0 }.map(\.stored)
            tables.append(
                Table(
                    name: free("history_\(entity.stored)"), kind: .history, entity: entity,
                    columns: Self.free(Self.versionColumns, besides: names) + names,
                    affinities: Self.affinities(of: entity.live, named: names)))
            let changes = Self.changeColumns(keys, others)
            tables.append(
                Table(
                    name: free("changes_\(entity.stored)"), kind: .changes, entity: entity, columns: changes,
                    affinities: Self.affinities(of: entity.key, named: keys)
                        .merging(Self.affinities(ofChanges: entity, named: changes)) { key, _ in key }))
        }
        for name in ["commits", "storage_commits"] where taken.insert(name.folded).inserted {
            tables.append(Table(name: name, kind: .commits, entity: nil, columns: Self.commitColumns))
        }
        self.tables = tables
    }

    private static func affinities(of columns: [CatalogColumn], named names: [String]) -> [ExactText: ColumnAffinity] {
        Dictionary(zip(names.map(\.folded), columns.map(\.affinity))) { first, _ in first }
    }

    /// Those of the values before and after, which are the last columns.
    private static func affinities(
        ofChanges entity: CatalogEntity, named names: [String]
    ) -> [ExactText: ColumnAffinity] {
        let columns = entity.live.filter { $0.keyOrdinal == 0 }.flatMap { [$0, $0] }
        return affinities(of: columns, named: names.suffix(columns.count))
    }

    private static func changeColumns(_ keys: [String], _ others: [String]) -> [String] {
        let values = free(others.flatMap { ["old_\($0)", "new_\($0)"] }, besides: keys)
        return free(changeColumns, besides: keys + values) + keys + values
    }

    /// Names that none of the others is like.
    private static func free(_ names: [String], besides others: [String]) -> [String] {
        var taken = Set(others.map(\.folded))
        return names.map { name in
            var name = name
            while !taken.insert(name.folded).inserted { name = "_\(name)" }
            return name
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

    /// The query, ready to run, beside the tables of history that it names.
    ///
    /// - Throws: What SQLite says of it; `invalid-argument` where it isn't one query that only reads.
    package func statement(for sql: String) throws -> PreparedStatement {
        var missing = tables
        while true {
            do {
                return try PreparedStatement(query: sql, on: source)
            } catch let error as StorageError {
                // SQLite knows best what a query names, so it is asked until it misses nothing that can be made.
                guard let offset = missing.firstIndex(where: { error.missingTable?.folded == $0.name.folded }) else {
                    throw error
                }
                try make(missing.remove(at: offset))
            }
        }
    }

    /// What SQLite would do for the query, a row for each step, and the names of the tables of history that would be made first.
    /// They stay empty for it, so that the answer comes at once.
    ///
    /// - Throws: What SQLite says of the query; `invalid-argument` where it isn't one query that only reads.
    package func plan(for sql: String) throws -> (steps: PreparedStatement, made: [String]) {
        var missing = tables
        var made: [String] = []
        // By itself it is one query; behind these words it could be anything.
        while true {
            do {
                _ = try PreparedStatement(query: sql, on: source)
                return (try PreparedStatement(query: "EXPLAIN QUERY PLAN \(sql)", on: source), made)
            } catch let error as StorageError {
                guard let offset = missing.firstIndex(where: { error.missingTable?.folded == $0.name.folded }) else {
                    throw error
                }
                let table = missing.remove(at: offset)
                try create(table)
                made.append(table.name)
            }
        }
    }

    private func create(_ table: Table) throws {
        // The first is the number of a commit, or the position of an event.
        let columns = table.columns.enumerated().map { index, name in
            index == 0
                ? "\(quoted(name)) INTEGER PRIMARY KEY"
                : "\(quoted(name)) \((table.affinities[name.folded] ?? .blob).rawValue)"
        }
        try PreparedStatement(source, "CREATE TABLE \(table.path)(\(columns.joined(separator: ", ")))").execute()
    }

    private func make(_ table: Table) throws {
        try create(table)
        let placeholders = table.columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try PreparedStatement(source, "INSERT INTO \(table.path) VALUES (\(placeholders))")
        try table.entity.map { try fill(table, of: $0, with: insert) } ?? fillCommits(table, with: insert)
    }

    private func forEachBatch(_ wants: (SegmentHeader) -> Bool, _ body: (EventBatch) throws -> Void) throws {
        let log = LogReader(source)
        let head = try log.head().position
        guard head > 0 else { return }
        try log.forEachBatch(in: 1...head, where: wants) { batch in
            try body(batch)
            return true
        }
    }
}

// MARK: Making

extension HistoryTables {
    private func fillCommits(_ table: Table, with insert: PreparedStatement) throws {
        let extend = try PreparedStatement(
            source, "UPDATE \(table.path) SET last = ?2, events = events + ?3 WHERE number = ?1")
        var last: Int64 = 0
        try forEachBatch({ _ in true }) { batch in
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
                try Self.run(
                    insert,
                    [.integer(last), .integer(first), .integer(end), .text(Self.time(part.info.time))]
                        + texts.map { $0.map(StorageValue.text) ?? .null } + [.integer(Int64(part.events.count))])
            }
        }
    }

    private func fill(_ table: Table, of entity: CatalogEntity, with insert: PreparedStatement) throws {
        let versions = table.kind == .history ? try Versions(of: entity, into: table, in: source) : nil
        try forEachBatch({ $0.entities.contains(entity.id) }) { batch in
            var commits = batch.commits[...]
            try batch.withView { view in
                func write(_ index: Int) throws {
                    while let part = commits.first, part.events.upperBound <= index { commits.removeFirst() }
                    guard let commit = commits.first?.info, view.shape(of: index).entity == entity.id else { return }
                    let event = RowEvent(view, at: index, position: batch.header.first + Int64(index), commit: commit)
                    if let versions {
                        try versions.write(event, with: insert)
                    } else {
                        try Self.run(insert, event.row(of: entity))
                    }
                }
                if let versions {
                    try versions.fold.apply(view, first: batch.header.first, after: write)
                } else {
                    for index in 0..<view.count { try write(index) }
                }
            }
        }
    }

    fileprivate static func run(_ statement: PreparedStatement, _ values: [StorageValue]) throws {
        for (offset, value) in values.enumerated() { try statement.writer.bind(value, at: Int32(offset + 1)) }
        try statement.execute()
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

extension RowEvent {
    fileprivate var time: StorageValue { .text(HistoryTables.time(commit.time)) }
    fileprivate var actor: StorageValue { commit.metadata.actor.map(StorageValue.text) ?? .null }
    fileprivate var reason: StorageValue { commit.metadata.reason.map(StorageValue.text) ?? .null }

    /// The event as a row of `changes_TABLE`.
    fileprivate func row(of entity: CatalogEntity) -> [StorageValue] {
        let (before, after) = (before, after)
        let others = entity.live.filter { $0.keyOrdinal == 0 }
        let changed = others.filter { before[$0.id] != nil || after[$0.id] != nil }.map(\.name)
        return [
            .integer(position), .integer(commit.number), time, actor, reason, .text(operation.rawValue),
            .text(changed.joined(separator: ",")),
        ] + key + others.flatMap { [before[$0.id] ?? .null, after[$0.id] ?? .null] }
    }
}

/// Writes the versions of an entity's rows, from a table that follows the events.
private final class Versions {
    let fold: Fold
    private let entity: CatalogEntity
    private let select: PreparedStatement
    private let close: PreparedStatement
    private let scratch: ScratchTables

    init(of entity: CatalogEntity, into table: HistoryTables.Table, in source: Connection) throws {
        self.entity = entity
        scratch = try ScratchTables()
        try PreparedStatement(scratch.database, "BEGIN").execute()
        let target = try scratch.target(for: entity)
        fold = Fold(scratch.database, targets: [target], checks: false)
        let columns = entity.live.map(ScratchTables.name).joined(separator: ", ")
        let keys = entity.key.map { "\(ScratchTables.name(of: $0)) IS ?" }.joined(separator: " AND ")
        select = try PreparedStatement(
            scratch.database, "SELECT \(columns) FROM \(ScratchTables.table(of: entity)) WHERE \(keys)")
        let (position, until) = (quoted(table.columns[0]), quoted(table.columns[1]))
        close = try PreparedStatement(
            source, "UPDATE \(table.path) SET \(until) = ?2 WHERE \(position) = ?1 AND \(until) IS NULL")
    }

    func write(_ event: RowEvent, with insert: PreparedStatement) throws {
        let values: [StorageValue]
        if event.operation == .delete {
            let old = event.before
            var key = event.key[...]
            let keys = Dictionary(uniqueKeysWithValues: entity.key.map { ($0.id, key.popFirst() ?? .null) })
            values = entity.live.map { keys[$0.id] ?? old[$0.id] ?? .null }
        } else {
            for (offset, value) in event.key.enumerated() { try select.writer.bind(value, at: Int32(offset + 1)) }
            defer { select.reset() }
            guard try select.step() else { throw StorageError.corruptLog("event @\(event.position) leaves no row") }
            values = entity.live.indices.map { select.row.value(at: Int32($0)) }
        }
        if event.previous > 0 {
            close.bind(event.previous, at: 1)
            close.bind(event.position, at: 2)
            try close.execute()
        }
        try HistoryTables.run(
            insert,
            [
                .integer(event.position), event.operation == .delete ? .integer(event.position) : .null,
                .integer(event.commit.number), event.time, event.actor, event.reason, .text(event.operation.rawValue),
            ] + values)
    }
}
