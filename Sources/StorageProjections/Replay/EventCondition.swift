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
    private var statements: [UInt32: PreparedStatement?] = [:]
    private static let eventColumns = ["op", "position", "commit", "time", "actor", "app", "reason"]

    /// - Parameter entities: The entities of the events.
    /// - Throws: SQLite's error, if the text is valid for none of the entities.
    package init(_ text: String, for entities: [CatalogEntity]) throws {
        self.text = text
        scratch = try ScratchTables()
        var failure: (any Error)?
        for entity in entities {
            do {
                statements[entity.id] = try Self.prepare(text, for: entity, in: scratch)
            } catch {
                // Of a table without these columns it is never true.
                statements[entity.id] = .some(nil)
                failure = failure ?? error
            }
        }
        if let failure, statements.values.allSatisfy({ $0 == nil }) { throw failure }
    }

    /// - Parameter event: With the whole row before and after it.
    package func holds(for event: RowEvent, in catalog: Catalog) throws -> Bool {
        guard let entity = catalog.entity(id: event.row.entity), let statement = try statement(for: entity) else {
            return false
        }
        let metadata = event.commit.metadata
        var values: [StorageValue] = [
            .text(event.operation.rawValue), .integer(event.position), .integer(event.commit.number),
            .text(HistoryTableInstaller.time(event.commit.time)),
        ]
        values += [metadata.actor, metadata.app, metadata.reason].map { $0.map(StorageValue.text) ?? .null }
        let (before, after, key) = (event.change.before(), event.change.after(), event.key)
        for column in entity.live {
            let (old, new) = (
                before.map { column.value(in: $0, key: key) }, after.map { column.value(in: $0, key: key) }
            )
            values += [old ?? .null, new ?? .null, new ?? old ?? .null]
        }
        try statement.bind(values)
        defer { statement.reset() }
        guard try statement.step() else { return false }
        return sqlite3_column_int(statement.pointer, 0) != 0
    }

    private func statement(for entity: CatalogEntity) throws -> PreparedStatement? {
        if let known = statements[entity.id] { return known }
        let made = try? Self.prepare(text, for: entity, in: scratch)
        statements[entity.id] = .some(made)
        return made
    }

    private static func prepare(
        _ text: String, for entity: CatalogEntity, in scratch: ScratchTables
    ) throws -> PreparedStatement {
        var names: Set<ExactText> = []
        var count = 0
        // A name that is already used is replaced by a hidden one, so that parameters keep their indices.
        func column(_ name: String, hidden: Bool = false) -> String {
            let isFree = !hidden && names.insert(name.folded).inserted
            count += 1
            return "?\(count) AS " + quoted(isFree ? name : "storage \(count) \(name)")
        }
        let taken = Set(entity.live.map(\.name.folded))
        var columns = eventColumns.map { column($0, hidden: taken.contains($0.folded)) }
        for live in entity.live { columns += ["old_\(live.name)", "new_\(live.name)", live.name].map { column($0) } }
        do {
            return try PreparedStatement(
                scratch.database, "SELECT (\(text)\n) IS TRUE FROM (SELECT \(columns.joined(separator: ", ")))")
        } catch is StorageError {
            // The error is reported without the SQL around the user's condition.
            throw StorageError(
                .invalidArgument, "SQLite says: \(scratch.database.errorMessage).",
                remedy: "Write a condition in SQL over old_x, new_x and x, for columns x.")
        }
    }
}

extension CatalogColumn {
    fileprivate func value(in row: [NetRow.Cell], key: [StorageValue]) -> StorageValue {
        // The converted values of older rows are known only to the program.
        keyValue(in: key) ?? row.value(of: id)?.value ?? (origin == 0 ? fallback : .null)
    }
}
