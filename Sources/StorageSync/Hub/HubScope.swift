internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// What a follower of a hub gets: changes of some entities, as far as its access goes.
///
/// Isolation: `Sendable`; evaluators are made once for each state of a table, behind a mutex.
final class HubScope: Sendable {
    let entities: Set<String>
    private let document: String?
    /// Of the follower's own writes; nil for one that doesn't write.
    let producer: ProducerID?
    private let access: HubAccess
    private let evaluators = Mutex<[String: Evaluator]>([:])
    /// What a row must have to concern the follower, one for each entity; nil where that can't be said of all of them.
    let anchors: [Anchor]?

    /// A text that a condition asks a column for.
    struct Anchor: Hashable {
        let entity: String
        let column: String
        let text: String
    }

    private struct Evaluator {
        let columns: [CatalogColumn]
        /// Nil where the condition can't be evaluated on these columns: then it is true for no row.
        let evaluator: PredicateEvaluator?
    }

    init(_ pull: HubPull, _ access: HubAccess) {
        entities = pull.entities.filter { access.mayRead($0) }
        document = pull.document
        producer = pull.producer
        self.access = access
        let anchors = entities.map { entity in access.grant(entity)?.condition.flatMap { $0.anchor(in: entity) } }
        self.anchors = anchors.contains(nil) ? nil : anchors.compactMap(\.self)
    }

    /// Of an entity, for single requests.
    convenience init(_ entity: String, _ access: HubAccess) { self.init(HubPull(behind: 0, of: [entity]), access) }

    /// Whether a change is anything to the follower.
    func concerns(_ change: HubChange) -> Bool {
        guard entities.contains(change.table.name), document.map({ $0.utf8.elementsEqual(change.id.utf8) }) ?? true
        else { return false }
        return [change.comparedNew, change.comparedOld].contains { $0.map { sees($0, in: change.table) } ?? false }
    }

    /// What a change is to the follower; nil where it is nothing.
    func visibleChange(of change: HubChange) -> RemoteChange? {
        guard entities.contains(change.table.name), document.map({ $0.utf8.elementsEqual(change.id.utf8) }) ?? true
        else { return nil }
        let operation: WriteOperation
        if let new = change.new, let compared = change.comparedNew, sees(compared, in: change.table) {
            operation = .save(change.table.fields(of: new).storageValues)
        } else if let compared = change.comparedOld, sees(compared, in: change.table) {
            operation = .delete
        } else {
            return nil
        }
        let origin = change.source.flatMap { $0.producer == producer ? $0.origin : nil }
        return RemoteChange(
            position: change.position, document: DocumentID(entity: change.table.name, id: change.id),
            operation: operation, ownOrigin: origin, otherPosition: origin == nil ? nil : otherPosition(of: change))
    }

    /// Where somebody else has changed a document before the follower's own writes.
    ///
    /// It is the last of those changes that counts, and the follower has written on what that has left: it left a document that the
    /// follower saw, whatever was hidden from it before. Of documents that were hidden to the end of them, a deletion is the last one. Only
    /// a trigger of the hub's own schema, which shows a hidden row as part of a commit of the follower, makes the position of a hidden
    /// change known.
    private func otherPosition(of change: HubChange) -> Int64? {
        change.other.flatMap { $0.isDeletion ? nil : $0.position }
    }

    /// - Throws: ``HubError/outdatedCondition`` where the client's condition names a column that the table had once. No row would meet it, and
    ///   nobody would know why. A column that never was is none yet: a field becomes one with the first document that has it.
    func checkCondition(on entity: CatalogEntity, _ reader: LogReader, _ catalog: Catalog) throws {
        for column in missingColumns(of: entity) {
            guard try !reader.hadColumn(column, in: entity, catalog) else { throw HubError.outdatedCondition }
        }
    }

    /// A column that a condition names.
    struct ConditionColumn: Hashable {
        let entity: String
        let name: String
    }

    /// Those that aren't there.
    func missingColumns(in catalog: Catalog) -> Set<ConditionColumn> {
        var missing: Set<ConditionColumn> = []
        for entity in entities.lazy.compactMap(catalog.entity(named:)) {
            for name in missingColumns(of: entity) {
                missing.insert(ConditionColumn(entity: entity.name, name: name))
            }
        }
        return missing
    }

    private func missingColumns(of entity: CatalogEntity) -> Set<String> {
        (access.grant(entity.name)?.condition?.columns ?? []).filter { entity.column(named: $0) == nil }
    }

    /// Whether a row is one of those that the client may see and write.
    func sees(_ row: HubTable.Row, in table: HubTable) -> Bool {
        access.grant(table.name)?.condition == nil || sees(table.compared(row), in: table)
    }

    private func sees(_ values: [StorageValue], in table: HubTable) -> Bool {
        guard let condition = access.grant(table.name)?.condition else { return true }
        return evaluators.withLock { evaluators in
            var known = evaluators[table.name]
            if known?.columns != table.comparedColumns {
                known = Evaluator(
                    columns: table.comparedColumns,
                    evaluator: try? PredicateEvaluator(condition, columns: table.evaluatedColumns))
                evaluators[table.name] = known
            }
            return known?.evaluator?.evaluate(values) ?? false
        }
    }

    /// Whether a follower that gets a row with later events may miss what these have done: it sees the row before them as it does behind
    /// them, and what it has written on the row was written on this one, and not on one that was deleted.
    func canSkip(_ events: [StorageEvent], in table: HubTable) -> Bool {
        guard !events.contains(where: { $0.operation == .delete }) else { return false }
        guard let condition = access.grant(table.name)?.condition else { return true }
        guard let columns = condition.columns else { return false }
        return events.allSatisfy { event in
            event.operation == .insert || !(event.new ?? []).contains { columns.contains($0.column) }
        }
    }

    /// Whether there are rows of an entity that ``sees(_:in:)`` may not see.
    func isLimited(in table: HubTable) -> Bool { access.grant(table.name)?.condition != nil }

    /// SQL that stands behind `WHERE`, with its values, for all rows that ``sees(_:in:)`` sees; nil where there are none. Rows with a
    /// value that isn't compared as SQLite would are among them in any case, so it is to be asked of each.
    func candidates(in table: HubTable) -> (clause: String, values: [StorageValue])? {
        var (clause, values) = ("1", [StorageValue]())
        if let condition = access.grant(table.name)?.condition {
            var columns: [String: CatalogColumn] = [:]
            let sql = try? PredicateSQL(condition) { name in
                let column = try table.column(name)
                columns[name] = column
                return quoted(column.stored)
            }
            guard let sql else { return nil }
            let parts = ["(\(sql.text))"] + columns.values.map(\.isComparedOtherwiseSQL).sorted()
            (clause, values) = ("(\(parts.joined(separator: " OR ")))", sql.values)
        }
        if let document {
            guard let key = table.key(of: document) else { return nil }
            clause += " AND \(quoted(table.key.stored)) = ?"
            values.append(key)
        }
        return (clause, values)
    }
}

extension LogReader {
    /// Whether a table had a column of a name once.
    /// - Complexity: O(*n*) in the changes of its columns.
    fileprivate func hadColumn(_ name: String, in entity: CatalogEntity, _ catalog: Catalog) throws -> Bool {
        var had = false
        for column in entity.columns where !had {
            had = column.name == name
            try forEachVersion(of: [.integer(Int64(column.id))], in: .catalog) { batch, index in
                let old = batch.event(at: index, catalog: catalog).old ?? []
                had = had || old.contains { $0.column == "name" && $0.value == .text(name) }
                return !had
            }
        }
        return had
    }
}

extension RowPredicate {
    /// Those that it is about; nil for SQL.
    fileprivate var columns: Set<String>? {
        switch self {
        case .constant: []
        case .comparison(let column, _, .column(let other), _): [column, other]
        case .comparison(let column, _, .value, _), .isNull(let column), .among(let column, _),
            .between(let column, _, _), .like(let column, _, _):
            [column]
        case .all(let parts), .any(let parts):
            parts.reduce(Set<String>?.some([])) { all, part in
                all.flatMap { all in part.columns.map { all.union($0) } }
            }
        case .not(let part): part.columns
        case .sql: nil
        }
    }

    /// A text that some column has where the condition is true.
    fileprivate func anchor(in entity: String) -> HubScope.Anchor? {
        switch self {
        case .comparison(let column, .equal, .value(.text(let text)), nil),
            .comparison(let column, .equal, .value(.text(let text)), .binary):
            HubScope.Anchor(entity: entity, column: column, text: text)
        case .all(let parts): parts.lazy.compactMap { $0.anchor(in: entity) }.first
        default: nil
        }
    }
}
