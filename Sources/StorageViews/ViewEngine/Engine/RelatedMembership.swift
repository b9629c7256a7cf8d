internal import CSQLite
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRouting

/// Determines, change by change, which rows of an entity meet conditions on related rows.
///
/// 1. Changes of rows, and of rows that conditions refer to, are collected until the step is complete.
/// 2. For each value of changed related rows, it determines whether a related row existed before and exists after the step:
///    the number of rows added and removed is known, and the foreign key's index supplies the current rows.
/// 3. A condition on rows that the related ones are related to adds and removes those in the same way.
/// 4. The results are changes as if the conditions were columns: a row that starts to meet them enters, and one that stops
///    meeting them leaves, whether the row itself has changed or not.
///
/// Nothing is kept between steps.
///
/// Isolation: not `Sendable`; it belongs to a node.
package final class RelatedMembership {
    /// A condition, and the related rows that have changed in the step.
    private struct Condition {
        let condition: RelatedCondition
        /// The conditions that the related rows must meet in turn; nil if there are none.
        let membership: RelatedMembership?
        /// Its column in the layout of the rows.
        var column = 0
        var key: RelatedKey?
        /// By the key of the value that they were found by.
        var touched: [[UInt8]: Turnover] = [:]
        var answers: [[UInt8]: Answer] = [:]

        init(_ condition: RelatedCondition) {
            self.condition = condition
            membership = RelatedMembership(
                of: RowRequest(predicate: condition.predicate, relations: condition.relations),
                in: condition.relation.table)
        }

        var interestCount: Int { 1 + (membership?.interestCount ?? 0) }

        /// - Parameter owner: How the rows that it is about are looked up, where they are.
        func interests(lookingUp owner: ColumnLookup?) -> [Interest] {
            let relation = condition.relation
            let columns = [relation.otherColumn] + condition.relations.map(\.relation.column)
            let own = Interest(entity: relation.table.name, predicate: condition.predicate, columns: columns).related(
                by: relation, for: condition.isNegated ? .hasNo : .has, lookups: [owner].compactMap(\.self),
                rerunReason: key?.isKnown == false
                    ? """
                    "\(relation.otherColumn)" and "\(relation.column)" are compared in different ways, by their types or collations
                    """ : nil)
            return [own] + (membership?.interests() ?? [])
        }
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

    private let table: QueryTable
    private let predicate: RowPredicate?
    private var conditions: [Condition]
    private var layout: RowLayout?
    private let buffer = KeyBuffer()
    /// The rows that have changed in the step.
    private var changes: [ChangedRow] = []
    /// How many interests it has.
    let interestCount: Int

    /// With more rows that a condition gives another answer, reading everything again costs less.
    private static var rowLimit: Int { 20_000 }

    /// - Returns: Nil if there are no conditions on related rows.
    init?(of request: RowRequest, in table: QueryTable) {
        guard !request.relations.isEmpty else { return nil }
        self.table = table
        predicate = request.predicate
        conditions = request.relations.map(Condition.init)
        interestCount = conditions.reduce(0) { $0 + $1.interestCount }
    }

    /// The related rows that the conditions refer to.
    ///
    /// - Parameter isNarrowed: Whether the rows are looked up by another column too, as those of ``KeyedLevel`` are.
    func interests(isNarrowed: Bool = false) -> [Interest] {
        conditions.flatMap { condition in
            condition.interests(
                lookingUp: isNarrowed ? nil : ColumnLookup(table, by: condition.condition.relation.column))
        }
    }

    /// - Parameters:
    ///   - layout: That of the rows.
    ///   - layouts: Those of the interests.
    func bind(to layout: RowLayout, related layouts: ArraySlice<RowLayout>) throws {
        removeAll()
        self.layout = layout
        var rest = layouts
        for index in conditions.indices {
            guard let related = rest.popFirst() else { throw StaleNode() }
            let relation = conditions[index].condition.relation
            conditions[index].column = try layout.index(named: relation.column)
            conditions[index].key = try RelatedKey(
                relation, in: related, comparedWith: layout.columns[conditions[index].column])
            guard let membership = conditions[index].membership else { continue }
            try membership.bind(to: related, related: rest.prefix(membership.interestCount))
            rest = rest.dropFirst(membership.interestCount)
        }
    }

    /// Drops the collected changes.
    func removeAll() {
        changes = []
        for index in conditions.indices {
            conditions[index].membership?.removeAll()
            conditions[index].touched = [:]
            conditions[index].answers = [:]
        }
    }
}

// MARK: Collecting

extension RelatedMembership {
    /// Adds a changed row to the step.
    func apply(_ change: ChangedRow) { changes.append(change) }

    /// Adds a changed row that a condition looks at.
    ///
    /// - Parameter interest: By which of the interests it was found.
    func apply(_ change: ChangedRow, by interest: Int) throws {
        var interest = interest
        for index in conditions.indices {
            guard interest >= conditions[index].interestCount else {
                guard let membership = conditions[index].membership else { return try note(change, in: index) }
                return interest == 0 ? membership.apply(change) : try membership.apply(change, by: interest - 1)
            }
            interest -= conditions[index].interestCount
        }
    }

    /// Counts the values that a change adds to or removes from the related rows.
    private func note(_ change: ChangedRow, in index: Int) throws {
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
}

// MARK: Answering

extension RelatedMembership {
    /// Returns the step's changes of the rows that meet the conditions, and drops the collected changes.
    ///
    /// - Parameter shown: Returns a condition that all relevant rows meet; nil if any row may be relevant.
    /// - Throws: ``StaleNode`` if the result is unknown, or if so many rows enter and leave that reading everything again
    ///   costs less.
    func takeChanges(_ snapshot: Snapshot, among shown: () -> RowPredicate? = { nil }) throws -> [ChangedRow] {
        defer { removeAll() }
        for index in conditions.indices {
            for change in try conditions[index].membership?.takeChanges(snapshot) ?? [] {
                try note(change, in: index)
            }
            try answer(index, snapshot)
        }
        var known: Set<[UInt8]> = []
        var result: [ChangedRow] = []
        for change in changes {
            known.insert(try key(of: change))
            if let change = try decided(change, snapshot) { result.append(change) }
        }
        for index in conditions.indices {
            for (key, answer) in conditions[index].answers where answer.before != answer.after {
                guard let value = conditions[index].touched[key]?.value else { continue }
                let column = conditions[index].condition.relation.column
                for row in try rows(relatedBy: column, to: value, among: shown(), snapshot)
                where known.insert(try self.key(of: row)).inserted {
                    if let change = try decided(row, snapshot), change.effect != .stay { result.append(change) }
                }
            }
        }
        return result
    }

    /// The bytes that identify a row.
    private func key(of change: ChangedRow) throws -> [UInt8] {
        guard let layout, !layout.keyIndices.isEmpty else { throw StaleNode() }
        buffer.removeAll()
        for index in layout.keyIndices {
            guard let value = change.value(index, change.change.exists ? .new : .old) else { throw StaleNode() }
            let reading = ColumnReading(columnIndex: index, conversion: .none, collation: .binary)
            ComparisonKey.appendPart(value, reading, to: buffer)
        }
        return Array(buffer.bytes(from: 0))
    }

    /// Determines whether related rows existed before the step and exist after it, for each changed value.
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
        let condition = conditions[index].condition
        let rows = condition.relation.rows(
            of: value, RowRequest(predicate: condition.predicate, relations: condition.relations))
        return try snapshot.integer(QuerySQL(rows, of: condition.relation.table).count(upTo: limit))
    }

    /// The change with all conditions applied; nil if the row met them neither before nor after.
    private func decided(_ change: ChangedRow, _ snapshot: Snapshot) throws -> ChangedRow? {
        let before = try change.effect != .enter && areMet(by: change, .before, snapshot)
        let after = try change.effect != .leave && areMet(by: change, .after, snapshot)
        var result = change
        switch (before, after) {
        case (false, true): result.effect = .enter
        case (true, false): result.effect = .leave
        case (true, true): result.effect = .stay
        case (false, false): return nil
        }
        return result
    }

    private func areMet(by change: ChangedRow, _ moment: Moment, _ snapshot: Snapshot) throws -> Bool {
        for index in conditions.indices {
            guard let value = change.value(conditions[index].column, moment == .before ? .old : .new) else {
                throw StaleNode()
            }
            if try !isMet(index, by: value.value(), moment, in: snapshot) { return false }
        }
        return true
    }

    /// Whether a condition is met by a row with a value.
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

    /// The rows that have a value, whatever the conditions on related rows say, as changes that have changed nothing.
    private func rows(
        relatedBy column: String, to value: StorageValue, among shown: RowPredicate?, _ snapshot: Snapshot
    ) throws -> [ChangedRow] {
        guard let layout else { throw StaleNode() }
        let isRelated = RowPredicate.comparison(column: column, .equal, .value(value))
        let request = RowRequest(predicate: .all([isRelated] + [predicate, shown].compactMap(\.self)))
        var text = try QuerySQL(request, of: table).aggregate(layout.selected)
        text.sql += " LIMIT \(Self.rowLimit + 1)"
        let changes = ChangeFold()
        changes.use([layout])
        try snapshot.run(text) { found in
            while try found.next() { changes.add(unchanged: found.row, of: layout, at: snapshot.position) }
        }
        guard changes.changes.count <= Self.rowLimit else { throw StaleNode() }
        return changes.changes.indices.map {
            ChangedRow(changes: changes, index: $0, rows: snapshot.current, effect: .stay)
        }
    }
}
