internal import CSQLite
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRouting

/// Keeps up to date which rows of a list conditions on related rows let in.
///
/// Changes of rows and of related rows are collected until all of a step are known. Then it is found out, for each value that
/// related rows were found by, whether there was one before and whether there is one now: what came and went is known, and
/// the foreign key's index says what there is. Nothing is kept between steps.
///
/// Isolation: not `Sendable`; it belongs to a node.
final class RelatedMembership<Item: Sendable> {
    /// A condition, and the related rows that have changed in the step.
    private struct Condition {
        let condition: RelatedCondition
        /// Its column in the owner's layout.
        var column = 0
        var key: RelatedKey?
        /// By the key of the value that they were found by.
        var touched: [[UInt8]: Turnover] = [:]
        var answers: [[UInt8]: Answer] = [:]
    }

    private struct Turnover {
        let value: StorageValue
        var gained = 0
        var lost = 0
    }

    /// Whether there was a related row before the step, and whether there is one after it.
    private struct Answer {
        let before: Bool
        let after: Bool
    }

    private enum Moment { case before, after }

    private var conditions: [Condition]
    /// The rows of the list that have changed in the step.
    private var changes: [ChangedRow] = []
    /// Where the values of the conditions begin in an owner's row.
    private let firstValue: Int

    /// - Returns: Nil where the conditions can only be evaluated by reading everything: they look beyond the related rows.
    init?(_ relations: [RelatedCondition], firstValue: Int) {
        guard relations.allSatisfy(\.relations.isEmpty) else { return nil }
        conditions = relations.map { Condition(condition: $0) }
        self.firstValue = firstValue
    }

    var interests: [Interest] {
        conditions.map {
            let relation = $0.condition.relation
            return Interest(
                entity: relation.table.name, predicate: $0.condition.predicate, columns: [relation.otherColumn])
        }
    }

    /// - Parameters:
    ///   - layout: That of the owners.
    ///   - layouts: Those of the interests.
    func bind(to layout: RowLayout, related layouts: ArraySlice<RowLayout>) throws {
        removeAll()
        for (index, related) in zip(conditions.indices, layouts) {
            let relation = conditions[index].condition.relation
            conditions[index].column = try layout.index(named: relation.column)
            conditions[index].key = try RelatedKey(relation, in: related)
        }
    }

    /// Forgets what was collected.
    func removeAll() {
        changes = []
        for index in conditions.indices {
            conditions[index].touched = [:]
            conditions[index].answers = [:]
        }
    }

    // MARK: Collecting

    /// Takes in a changed row of the list.
    func apply(_ change: ChangedRow) { changes.append(change) }

    /// Takes in a changed row that a condition looks at.
    func apply(_ change: ChangedRow, to index: Int) throws {
        if change.effect != .enter { try note(change, .old, in: index) { $0.lost += 1 } }
        if change.effect != .leave { try note(change, .new, in: index) { $0.gained += 1 } }
    }

    private func note(
        _ change: ChangedRow, _ image: RowKeys.Image, in index: Int, _ count: (inout Turnover) -> Void
    ) throws {
        guard let reader = conditions[index].key else { throw StaleNode() }
        guard let key = try reader.key(of: change, image) else { return }
        let value = try reader.value(of: change, image)
        count(&conditions[index].touched[key, default: Turnover(value: value)])
    }

    // MARK: Applying

    /// Lets the list have what the step has changed.
    func finishStep(_ list: ListNode<OwnerRow<Item>>, _ snapshot: Snapshot) throws {
        defer { removeAll() }
        var known: Set<[UInt8]> = []
        for index in conditions.indices { try answer(index, snapshot) }
        for change in changes { try apply(change, to: list, noting: &known, snapshot) }
        for index in conditions.indices {
            for (key, answer) in conditions[index].answers where answer.before != answer.after {
                guard let value = conditions[index].touched[key]?.value else { continue }
                try turn(index, value, in: list, knowing: &known, snapshot)
            }
        }
    }

    /// Finds out what there was and is of the related rows that have changed.
    private func answer(_ index: Int, _ snapshot: Snapshot) throws {
        for (key, turnover) in conditions[index].touched {
            let count = try count(index, of: turnover.value, upTo: turnover.gained + 1, in: snapshot)
            conditions[index].answers[key] = Answer(
                before: turnover.lost > 0 || count > turnover.gained, after: count > 0)
        }
    }

    /// How many rows of a condition are related to a value, counted up to a limit.
    private func count(
        _ index: Int, of value: StorageValue, upTo limit: Int, in snapshot: Snapshot
    ) throws -> Int {
        let (relation, predicate) = (conditions[index].condition.relation, conditions[index].condition.predicate)
        let rows = relation.rows(of: value, RowRequest(predicate: predicate))
        return try snapshot.integer(QuerySQL(rows, of: relation.table).count(upTo: limit))
    }

    /// Whether a condition is met by an owner with a value.
    private func isMet(
        _ index: Int, by value: StorageValue, _ moment: Moment, in snapshot: Snapshot
    ) throws -> Bool {
        let isNegated = conditions[index].condition.isNegated
        guard let key = conditions[index].key?.key(of: value) else { return isNegated }
        if conditions[index].answers[key] == nil {
            // None of these rows has changed.
            let exists = try count(index, of: value, upTo: 1, in: snapshot) > 0
            conditions[index].answers[key] = Answer(before: exists, after: exists)
        }
        guard let answer = conditions[index].answers[key] else { return isNegated }
        return (moment == .before ? answer.before : answer.after) != isNegated
    }

    private func areMet(
        _ moment: Moment, _ snapshot: Snapshot, _ value: (Int) throws -> StorageValue
    ) throws -> Bool {
        for index in conditions.indices where try !isMet(index, by: value(index), moment, in: snapshot) { return false }
        return true
    }

    private func apply(
        _ change: ChangedRow, to list: ListNode<OwnerRow<Item>>, noting known: inout Set<[UInt8]>,
        _ snapshot: Snapshot
    ) throws {
        func value(_ image: RowKeys.Image) -> (Int) throws -> StorageValue {
            { [conditions] index in
                guard let value = change.value(conditions[index].column, image) else { throw StaleNode() }
                return value.value()
            }
        }
        if change.effect != .leave {
            guard let sort = list.sortKey(of: change, .new) else { throw StaleNode() }
            known.insert(sort)
        }
        let before = try change.effect != .enter && areMet(.before, snapshot, value(.old))
        let after = try change.effect != .leave && areMet(.after, snapshot, value(.new))
        guard let effect = Self.effect(before, after) else { return }
        var step = change
        step.effect = effect
        try list.apply(step, in: snapshot)
    }

    /// Applies to the owners of a value, which haven't changed themselves, that a condition gives another answer.
    private func turn(
        _ index: Int, _ value: StorageValue, in list: ListNode<OwnerRow<Item>>, knowing known: inout Set<[UInt8]>,
        _ snapshot: Snapshot
    ) throws {
        let column = conditions[index].condition.relation.column
        for row in try list.rows(where: .comparison(column: column, .equal, .value(value)), snapshot)
        where known.insert(row.sort).inserted {
            let value = { [firstValue] index in row.item.values[firstValue + index] }
            let before = try areMet(.before, snapshot, value)
            let after = try areMet(.after, snapshot, value)
            guard let effect = Self.effect(before, after), effect != .stay else { continue }
            try list.apply(effect, from: row.sort, to: row.sort) { row.item }
        }
    }

    private static func effect(_ before: Bool, _ after: Bool) -> SubscriptionEffect? {
        switch (before, after) {
        case (false, true): .enter
        case (true, false): .leave
        case (true, true): .stay
        case (false, false): nil
        }
    }
}
