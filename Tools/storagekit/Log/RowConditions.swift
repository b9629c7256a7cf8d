import Foundation
import StorageKit

/// The conditions of `log` on the rows that commits change.
struct RowConditions {
    private let condition: String?
    private let changed: [ChangedColumn]
    private let targets: [TargetArgument]
    private let store: HistoryReader

    init(_ condition: String?, _ changed: [ChangedColumn], of targets: [TargetArgument], _ store: HistoryReader) {
        self.condition = condition
        self.changed = changed
        self.targets = targets
        self.store = store
    }

    func narrow(_ filter: inout ChangeFilter) throws {
        guard condition != nil || !changed.isEmpty else { return }
        let isTrue = try condition.map { try self.lookup($0, filter) }
        if !changed.isEmpty { try checkColumns(filter) }
        filter.isNarrow = true
        let (changed, catalog) = (changed, store.catalog)
        filter.passes = { batch, index, commit in
            if let isTrue, try !isTrue(batch.positions, batch.header.first + Int64(index)) { return false }
            guard !changed.isEmpty else { return true }
            let event = batch.event(at: index, catalog: catalog, commit: commit)
            return changed.contains { $0.matches(event) }
        }
    }

    private func checkColumns(_ filter: ChangeFilter) throws {
        let names = EntityNames(store)
        let entities = try filter.query.tables.map { try $0.flatMap(names.entities) } ?? names.users
        for change in changed { try names.check(column: change.column, of: entities) }
    }

    /// Returns a function that tests whether an SQL condition is true for the row after an event. SQL finds the whole row in the table of its
    /// versions, which is queried once for the events of each segment.
    private func lookup(
        _ condition: String, _ filter: ChangeFilter
    ) throws -> (_ segment: ClosedRange<Int64>, _ position: Int64) throws -> Bool {
        guard let tables = filter.query.tables, tables.count == 1, let table = tables.first,
            let entity = store.catalog.live.first(where: { $0.name.utf8.elementsEqual(table.utf8) })
        else {
            throw CommandError(
                .usage, "--where needs one table, whose columns it names.",
                next: "Name it: storagekit log TABLE --where \"…\"")
        }
        let history = try HistoryTableInstaller(store.connection)
        guard let name = history.name(ofHistoryOf: entity) else { return { _, _ in false } }
        let position = quoted(name.position)
        let statement: PreparedStatement
        do {
            statement = try history.statement(
                for: """
                    SELECT \(position) FROM \(quoted(name.table)) WHERE \(position) BETWEEN ?1 AND ?2 AND (\(condition)
                    )
                    """)
        } catch let error as StorageError {
            throw CommandError(condition: condition, of: entity, error, catalog: store.catalog)
        }
        var segment: ClosedRange<Int64>?
        var matching: Set<Int64> = []
        return { wanted, position in
            if wanted != segment {
                segment = wanted
                matching = []
                statement.bind(wanted.lowerBound, at: 1)
                statement.bind(wanted.upperBound, at: 2)
                defer { statement.reset() }
                do {
                    while try statement.step() { matching.insert(statement.integer(0)) }
                } catch {
                    throw history.failure ?? error
                }
            }
            return matching.contains(position)
        }
    }
}

extension ChangeScan {
    /// Returns a hint if no commit matches because the actor is spelled differently; otherwise nil.
    func unknownActors() throws -> String? {
        guard let wanted = filter.query.actors, store.head.position > 0 else { return nil }
        var known: Set<String> = []
        try store.log.forEachBatch(in: 1...store.head.position, where: { _ in true }) { batch in
            for part in batch.commits { part.info.metadata.actor.map { _ = known.insert($0) } }
            return true
        }
        let unknown = wanted.subtracting(known).sorted()
        guard let first = unknown.first else { return nil }
        let similar = Suggestions.nearest(to: first, among: Array(known))
        guard !similar.isEmpty else {
            return known.isEmpty
                ? "No commit names an actor."
                : "There is no actor \"\(first)\"; there are \(Suggestions.list(known.sorted()))."
        }
        return "Did you mean --actor \(similar.map { "\"\($0)\"" }.joined(separator: ", "))?"
    }
}
