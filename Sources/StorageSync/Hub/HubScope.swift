internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// What a follower of a hub receives: changes of some entities, as far as its access allows.
///
/// Isolation: `Sendable`; evaluators are created once for each state of a table, behind a mutex.
final class HubScope: Sendable {
    let entities: Set<String>
    private let document: String?
    /// The producer of the follower's own writes; nil if it doesn't write.
    let producer: ProducerID?
    private let access: HubAccess
    private let evaluators = Mutex<[String: Evaluator]>([:])
    /// What rows must contain to concern the follower, one for each entity; nil if that can't be determined for all of
    /// them.
    let anchors: [Anchor]?

    /// A text that a condition requires in a column.
    struct Anchor: Hashable {
        let entity: String
        let column: String
        let text: String
    }

    private struct Evaluator {
        let columns: [CatalogColumn]
        /// How many columns of the condition don't exist. Their values are NULL, as in the rows that were there when a column
        /// is added.
        let missing: Int
        /// Nil if the condition can't be evaluated without a database: no row matches then.
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

    /// The scope of an entity, for single requests.
    convenience init(_ entity: String, _ access: HubAccess) { self.init(HubPull(behind: 0, of: [entity]), access) }

    /// Whether a change affects the follower.
    func concerns(_ change: HubChange) -> Bool {
        guard entities.contains(change.table.name), document.map({ $0.utf8.elementsEqual(change.id.utf8) }) ?? true
        else { return false }
        return [change.comparedNew, change.comparedOld].contains { $0.map { sees($0, in: change.table) } ?? false }
    }

    /// A change as the follower sees it; nil if it doesn't affect the follower.
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

    /// The position at which another writer last changed a document before the follower's own writes.
    ///
    /// The last of those changes counts, and the follower's write was based on its result: a document that the follower
    /// saw, whatever was hidden from it before. If the document was hidden until then, the last change is a deletion.
    /// Only a trigger of the hub's own schema that reveals a hidden row in a commit of the follower exposes the
    /// position of a hidden change.
    private func otherPosition(of change: HubChange) -> Int64? {
        change.other.flatMap { $0.isDeletion ? nil : $0.position }
    }

    /// - Throws: ``HubError/outdatedCondition`` if the client's condition names a column that the table once had. Otherwise each row would have NULL there,
    ///   whatever it was. A column that never existed is NULL in each row: a field becomes one with the first document that has it.
    func checkCondition(on entity: CatalogEntity, _ reader: LogReader, _ catalog: Catalog) throws {
        for column in missingColumns(of: entity) {
            guard try !reader.hadColumn(column, in: entity, catalog) else { throw HubError.outdatedCondition }
        }
    }

    /// Why one of the entities can't be served, or can't have the follower's document; nil if all can.
    func obstacle(in catalog: Catalog) -> String? {
        entities.lazy.compactMap(catalog.entity(named:))
            .compactMap { HubEntityTable.obstacle(of: $0, for: self.document) }.first
    }

    /// A column that a condition names.
    struct ConditionColumn: Hashable {
        let entity: String
        let name: String
    }

    /// The columns that don't exist.
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

    /// Whether the client may see and write a row.
    func sees(_ row: HubEntityTable.Row, in table: HubEntityTable) -> Bool {
        access.grant(table.name)?.condition == nil || sees(table.compared(row), in: table)
    }

    private func sees(_ values: [StorageValue], in table: HubEntityTable) -> Bool {
        guard let condition = access.grant(table.name)?.condition else { return true }
        return evaluators.withLock { evaluators in
            var known = evaluators[table.name]
            if known?.columns != table.comparedColumns {
                let missing = missingColumns(of: table.entity).map { EvaluatedColumn(name: $0, affinity: .blob) }
                known = Evaluator(
                    columns: table.comparedColumns, missing: missing.count,
                    evaluator: try? PredicateEvaluator(condition, columns: table.evaluatedColumns + missing))
                evaluators[table.name] = known
            }
            guard let known, let evaluator = known.evaluator else { return false }
            let values = known.missing == 0 ? values : values + repeatElement(StorageValue.null, count: known.missing)
            return evaluator.evaluate(values) ?? false
        }
    }

    /// Whether a follower that receives a row with later events may skip these: it sees the row before them and after
    /// them, and its own writes were based on this row, and not on a deleted one.
    func canSkip(_ events: [StorageEvent], in table: HubEntityTable) -> Bool {
        guard !events.contains(where: { $0.operation == .delete }) else { return false }
        guard let condition = access.grant(table.name)?.condition else { return true }
        guard let columns = condition.columns else { return false }
        return events.allSatisfy { event in
            event.operation == .insert || !(event.new ?? []).contains { columns.contains($0.column) }
        }
    }

    /// Whether an entity may have rows that ``sees(_:in:)`` rejects.
    func isLimited(in table: HubEntityTable) -> Bool { access.grant(table.name)?.condition != nil }

    /// A `WHERE` condition, with its values, for all rows that ``sees(_:in:)`` accepts; nil if there are none. It
    /// includes all rows with a value that SQLite would compare differently, so each row must still be checked.
    func candidates(in table: HubEntityTable) -> (clause: String, values: [StorageValue])? {
        var (clause, values) = ("1", [StorageValue]())
        if let condition = access.grant(table.name)?.condition {
            var columns: [String: CatalogColumn] = [:]
            let sql = try? PredicateSQL(condition) { name in
                guard let column = try? table.column(name) else { return "NULL" }
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
    /// Whether a table once had a column with a name.
    ///
    /// - Complexity: O(*n*) in the number of changes of its columns.
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
    /// A text that a column must contain for the condition to be true.
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
