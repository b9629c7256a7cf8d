internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageHistory
package import StorageLog

/// A condition in SQL over one event and the row that it changes.
///
/// `old_x` and `new_x` are the values of a column before and after, NULL if the row doesn't exist; `x` alone is the
/// value after, or for a delete the value before. `op`, `position`, `commit`, `time`, `actor`, `app`, `reason` describe
/// the event, unless a column has that name.
///
/// Not `Sendable`: one thread at a time may use it.
package final class EventCondition {
    package let text: String
    private let scratch: ScratchTables
    private var preparations: [UInt32: Preparation] = [:]
    private static let eventColumns = ["op", "position", "commit", "time", "actor", "app", "reason"]

    /// The meaning of a name in the condition.
    private enum Source {
        /// By its index in ``eventColumns``.
        case event(Int)
        case old(CatalogColumn)
        case new(CatalogColumn)
        /// The value after, or for a delete the value before.
        case current(CatalogColumn)
    }

    /// The condition for the events of one entity. Their values are stored in the only row of a table whose columns have the
    /// affinities and collations of the entity's, because they decide how SQLite compares.
    private struct Prepared {
        let sources: [Source]
        let update: PreparedStatement
        let select: PreparedStatement
    }

    private enum Preparation {
        case ready(Prepared)
        /// Of a table without these columns it is never true.
        case missingColumn(StorageError)
    }

    /// - Parameter entities: The entities of the events.
    /// - Throws: SQLite's error, if the text is valid for none of the entities, or isn't for another reason than a missing column.
    package init(_ text: String, for entities: [CatalogEntity]) throws {
        self.text = text
        scratch = try ScratchTables()
        var failure: StorageError?
        var isValid = entities.isEmpty
        for entity in entities {
            switch try preparation(for: entity) {
            case .ready: isValid = true
            case .missingColumn(let error): failure = failure ?? error
            }
        }
        if let failure, !isValid { throw failure }
    }

    /// - Parameter event: With the whole row before and after it.
    package func holds(for event: RowEvent, in catalog: Catalog) throws -> Bool {
        guard let entity = catalog.entity(id: event.row.entity),
            case .ready(let prepared) = try preparation(for: entity)
        else { return false }
        let metadata = event.commit.metadata
        var eventValues: [StorageValue] = [
            .text(event.operation.rawValue), .integer(event.position), .integer(event.commit.number),
            .text(HistoryTableInstaller.time(event.commit.time)),
        ]
        eventValues += [metadata.actor, metadata.app, metadata.reason].map { $0.map(StorageValue.text) ?? .null }
        let (before, after, key) = (event.change.before(), event.change.after(), event.key)
        let values = prepared.sources.map { source in
            switch source {
            case .event(let index): eventValues[index]
            case .old(let column): before.map { column.value(in: $0, key: key) } ?? .null
            case .new(let column): after.map { column.value(in: $0, key: key) } ?? .null
            case .current(let column): (after ?? before).map { column.value(in: $0, key: key) } ?? .null
            }
        }
        try prepared.update.bind(values)
        try prepared.update.execute()
        defer { prepared.select.reset() }
        guard try prepared.select.step() else { return false }
        return sqlite3_column_int(prepared.select.pointer, 0) != 0
    }

    private func preparation(for entity: CatalogEntity) throws -> Preparation {
        if let known = preparations[entity.id] { return known }
        let made = try prepare(entity)
        preparations[entity.id] = made
        return made
    }

    private func prepare(_ entity: CatalogEntity) throws -> Preparation {
        let (definitions, sources) = names(in: entity)
        let table = quoted("event \(entity.id)")
        let columns = definitions.map(\.name)
        try PreparedStatement(
            scratch.database,
            "CREATE TABLE \(table)(\(definitions.map { "\($0.name) \($0.type)" }.joined(separator: ", ")))"
        ).execute()
        try PreparedStatement(scratch.database, "INSERT INTO \(table)(\(columns[0])) VALUES (NULL)").execute()
        let update = try PreparedStatement(
            scratch.database, "UPDATE \(table) SET \(columns.map { "\($0) = ?" }.joined(separator: ", "))")
        do {
            // A subquery, whose rowid is NULL: that of the row here means nothing.
            let select = try PreparedStatement(
                scratch.database, "SELECT (\(text)\n) IS TRUE FROM (SELECT * FROM \(table))")
            return .ready(Prepared(sources: sources, update: update, select: select))
        } catch is StorageError {
            let message = scratch.database.errorMessage
            // The error is reported without the SQL around the user's condition.
            let error = StorageError(
                .invalidArgument, "SQLite says: \(message).",
                remedy: "Write a condition in SQL over old_x, new_x and x, for columns x.")
            guard message.hasPrefix("no such column") else { throw error }
            return .missingColumn(error)
        }
    }

    /// The names that the condition can use, quoted, with their types. Those of columns that it doesn't contain are left out: three
    /// for each column of a wide table are more than a table can have.
    private func names(
        in entity: CatalogEntity
    ) -> (definitions: [(name: String, type: String)], sources: [Source]) {
        var definitions: [(name: String, type: String)] = []
        var sources: [Source] = []
        // The first of two equal names counts; those of the event give way to columns.
        var taken = Set(entity.live.map(\.name.folded))
        func add(_ name: String, type: String, from source: Source) {
            definitions.append((quoted(name), type))
            sources.append(source)
        }
        for (index, name) in Self.eventColumns.enumerated() where !taken.contains(name.folded) {
            add(name, type: "", from: .event(index))
        }
        taken = Set(Self.eventColumns.map(\.folded)).subtracting(taken)
        let content = text.lowercasedASCII
        for column in entity.live {
            let named: [(String, Source)] = [
                ("old_\(column.name)", .old(column)), ("new_\(column.name)", .new(column)),
                (column.name, .current(column)),
            ]
            for (name, source) in named {
                let written = [name, quoted(name)].map(\.lowercasedASCII)
                guard written.contains(where: { content.utf8.contains($0.utf8) }),
                    taken.insert(name.folded).inserted
                else { continue }
                add(name, type: column.comparisonClause, from: source)
            }
        }
        // A table has a column at least. This name isn't in the condition, or it would be there.
        if definitions.isEmpty { add(Self.eventColumns[0], type: "", from: .event(0)) }
        return (definitions, sources)
    }
}

extension CatalogColumn {
    fileprivate func value(in row: [NetRow.Cell], key: [StorageValue]) -> StorageValue {
        // The converted values of older rows are known only to the program.
        keyValue(in: key) ?? row.value(of: id)?.value ?? (origin == 0 ? fallback : .null)
    }
}
