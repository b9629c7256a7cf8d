internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// Applies events to tables one by one, forward or backward; ``NetWindow`` does it row by row.
///
/// A row that another program has deleted is still in the tables, because the log doesn't know of it. If it is inserted again, the
/// insert, which points back to no event, replaces it. In the same way, the deleted row replaces one that another program has inserted
/// since, when its delete is undone.
///
/// The tables are those of `database`, which needn't be the store's own. Not `Sendable`: it belongs to its connection's thread.
package final class Fold {
    /// The table for the rows of an entity.
    package struct Target {
        package let entity: CatalogEntity
        /// The table's name as an SQL identifier.
        package let table: String
        /// The name of a column in that table, as an SQL identifier.
        package let column: (CatalogColumn) -> String
        /// The table for the last positions of deleted rows, with the schema of `storage_tombstone`; nil if they aren't needed.
        package let tombstones: String?
        /// Whether there may be tombstones already.
        package var hasTombstones = false
        /// Whether keys are compared by their bytes, although the columns of the table compare them by a collation.
        var comparesBytes = false

        package init(
            entity: CatalogEntity, table: String, column: @escaping (CatalogColumn) -> String, tombstones: String?,
            hasTombstones: Bool = false, comparesBytes: Bool = false
        ) {
            self.entity = entity
            self.table = table
            self.column = column
            self.tombstones = tombstones
            self.hasTombstones = hasTombstones
            self.comparesBytes = comparesBytes
        }

        /// An SQL condition that matches the row with the bound key.
        var keyCondition: String {
            let equals = comparesBytes ? " COLLATE BINARY = ?" : " = ?"
            return entity.key.map { column($0) + equals }.joined(separator: " AND ")
        }

        /// The columns that were added after the event of a row, which gets their ``CatalogColumn/fallback``: the table's own
        /// default is that of new rows.
        ///
        /// Without those whose values are converted from another column's, and those that can't be NULL but have no fallback.
        func addedColumns(notIn columns: [UInt32]) -> [CatalogColumn] {
            entity.live.filter {
                $0.keyOrdinal == 0 && $0.origin == 0 && !($0.required && $0.fallback == .null)
                    && !columns.contains($0.id)
            }
        }
    }

    /// An insert of a row that was there, because the log has no event of its delete; or, backward, a delete of a row that is there,
    /// because the log has no event of its insert.
    package struct Replacement {
        /// The position of the insert or delete.
        package let position: Int64
        /// The position that the row had.
        package let earlier: Int64
        package let entity: UInt32
    }

    /// A change of a value that another program had changed, without an event.
    package struct ForeignValue {
        /// The change's position.
        package let position: Int64
        package let entity: UInt32
        package let column: UInt32
    }

    private let database: Connection
    private let targets: [UInt32: Target]
    private let checks: Bool
    private let direction: Direction
    private var plans: [PlanKey: Plan] = [:]
    private static let planLimit = 1_024
    private var planOfShape: [Plan?] = []

    package enum Direction {
        /// Events are applied, in the order of the log.
        case forward
        /// Events are undone, last first, on tables in the state after them.
        case backward
    }

    /// - Parameter checks: Whether each event is checked against the row that it finds: old values, back-link and
    ///   presence.
    package init(_ database: Connection, targets: [Target], checks: Bool, direction: Direction = .forward) {
        self.database = database
        self.targets = Dictionary(uniqueKeysWithValues: targets.map { ($0.entity.id, $0) })
        self.checks = checks
        self.direction = direction
        deleted = Set(targets.filter(\.hasTombstones).map(\.entity.id))
    }

    /// Whether a segment holds any event of the targets.
    package func wants(_ header: SegmentHeader) -> Bool { header.entities.contains { targets[$0] != nil } }

    private struct PlanKey: Hashable {
        let entity: UInt32
        let operation: UInt32
        let columns: [UInt32]
    }

    /// How events of one shape are applied.
    private final class Plan {
        let statement: PreparedStatement
        let select: PreparedStatement?
        let keyCount: Int
        /// Indexes in the event's columns of those that the table still has.
        let columnIndices: [Int]
        /// The operation on the row, which is the inverse of the event's when events are undone.
        let operation: Int
        let entity: UInt32
        /// Removes the tombstone of an inserted row, or writes that of a deleted one.
        let tombstone: PreparedStatement?

        init(
            statement: PreparedStatement, select: PreparedStatement?, keyCount: Int, columnIndices: [Int],
            operation: Int,
            entity: UInt32,
            tombstone: PreparedStatement?
        ) {
            self.statement = statement
            self.select = select
            self.keyCount = keyCount
            self.columnIndices = columnIndices
            self.operation = operation
            self.entity = entity
            self.tombstone = tombstone
        }
    }

    /// Entities with a deleted row so far: inserts of others needn't look for tombstones.
    private var deleted: Set<UInt32>

    /// Applies the events of a batch that lie in `positions`.
    ///
    /// - Parameters:
    ///   - report: Called with the position and a description of the error, when checking.
    ///   - replaced: Called for each event that replaces a row.
    ///   - after: Called with each event's index once it is applied.
    package func apply(
        _ batch: EventBatch, in positions: ClosedRange<Int64> = 1...Int64.max,
        report: (Int64, String) -> Void = { _, _ in }, replaced: (Replacement) throws -> Void = { _ in },
        foreign: (ForeignValue) -> Void = { _ in }, after: (Int) throws -> Void = { _ in }
    ) throws {
        try batch.withView { view in
            try apply(
                view, first: batch.header.first, in: positions, report: report, replaced: replaced, foreign: foreign,
                after: after)
        }
    }

    /// Applies events that may not be in the log yet; the first of them has the position `first`.
    package func apply(
        _ view: EventView, first: Int64, in positions: ClosedRange<Int64> = 1...Int64.max,
        report: (Int64, String) -> Void = { _, _ in }, replaced: (Replacement) throws -> Void = { _ in },
        foreign: (ForeignValue) -> Void = { _ in }, after: (Int) throws -> Void = { _ in }
    ) throws {
        planOfShape = try (0..<view.shapeCount).map { try plan(view.shapes[$0]) }
        for step in 0..<view.count {
            let index = direction == .forward ? step : view.count - 1 - step
            let position = first + Int64(index)
            guard positions.contains(position), let plan = planOfShape[Int(view.events[index].shape)] else {
                continue
            }
            if let select = plan.select {
                try check(
                    view, event: index, at: position, plan: plan, select: select, report: report, foreign: foreign)
            }
            try apply(view, event: index, at: position, plan: plan, report: report, replaced: replaced)
            try followDeletions(view, event: index, at: position, plan: plan, report: report)
            try after(index)
        }
    }

    private func apply(
        _ view: EventView, event index: Int, at position: Int64, plan: Plan, report: (Int64, String) -> Void,
        replaced: (Replacement) throws -> Void
    ) throws {
        let statement = plan.statement
        let key = view.key(of: index)
        let values = view.columns(of: index)
        let count = Int(view.shape(of: index).column_count)
        var parameter: Int32 = 1
        if plan.operation != STORAGE_DELETE {
            let isNew = plan.operation == STORAGE_UPDATE && direction == .forward
            let fresh = isNew ? values + count : values
            for columnIndex in plan.columnIndices {
                statement.bind(fresh[columnIndex], bytes: view.bytes, at: parameter)
                parameter += 1
            }
            statement.bind(direction == .forward ? position : view.events[index].previous, at: parameter)
            parameter += 1
        }
        for part in 0..<plan.keyCount {
            statement.bind(key[part], bytes: view.bytes, at: parameter)
            parameter += 1
        }
        do {
            try statement.execute()
        } catch let error as StorageError where error.code == .conflict {
            if let earlier = try takeReplacedRow(view, event: index, plan: plan) {
                try statement.execute()
                try replaced(Replacement(position: position, earlier: earlier, entity: plan.entity))
            } else {
                guard checks else { throw error }
                return report(position, "inserts a row that already exists")
            }
        }
        if plan.operation != STORAGE_INSERT, database.changes != 1 {
            guard checks else {
                throw StorageError.corruptLog("event @\(position) changes a row that doesn't exist")
            }
            report(position, "changes a row that doesn't exist")
        }
    }

    /// Removes the row with the key of an insert that points back to no event, or of a delete that is undone.
    ///
    /// - Returns: The row's position; nil if there is no such row, so that the insert conflicts with another one.
    private func takeReplacedRow(_ view: EventView, event index: Int, plan: Plan) throws -> Int64? {
        guard plan.operation == STORAGE_INSERT, direction == .backward || view.events[index].previous == 0,
            let target = targets[plan.entity]
        else { return nil }
        let key = view.key(of: index)
        let columns = (["_position"] + target.entity.key.map(target.column)).joined(separator: ", ")
        let row = "FROM \(target.table) WHERE \(target.keyCondition)"
        let select = try PreparedStatement(database, "SELECT \(columns) \(row)")
        for part in 0..<plan.keyCount { select.bind(key[part], bytes: view.bytes, at: Int32(part + 1)) }
        // By a collation or an affinity that the table got later, the condition may find the row of another key.
        guard try select.step(),
            (0..<plan.keyCount).allSatisfy({ select.holds(key[$0], bytes: view.bytes, in: Int32($0 + 1)) })
        else { return nil }
        let earlier = select.integer(0)
        select.reset()
        let delete = try PreparedStatement(database, "DELETE \(row)")
        for part in 0..<plan.keyCount { delete.bind(key[part], bytes: view.bytes, at: Int32(part + 1)) }
        try delete.execute()
        return earlier
    }

    /// Updates the tombstones: a delete writes one, an insert of the same key removes it.
    private func followDeletions(
        _ view: EventView, event index: Int, at position: Int64, plan: Plan, report: (Int64, String) -> Void
    ) throws {
        guard let statement = plan.tombstone else { return }
        var earlier: Int64 = 0
        if plan.operation == STORAGE_DELETE || deleted.contains(plan.entity) {
            let key = KeyCoding.encode(view.key(of: index), count: plan.keyCount, bytes: view.bytes)
            statement.bind(Int64(plan.entity), at: 1)
            statement.bind(blob: key, at: 2)
            if plan.operation == STORAGE_DELETE {
                statement.bind(position, at: 3)
                deleted.insert(plan.entity)
            }
            defer { statement.reset() }
            while try statement.step() { earlier = statement.integer(0) }
        }
        if checks, plan.operation == STORAGE_INSERT, view.events[index].previous != earlier {
            report(position, "points back to @\(view.events[index].previous), but the row was deleted at @\(earlier)")
        }
    }

    /// Checks an update or delete against the row as earlier events have left it.
    private func check(
        _ view: EventView, event index: Int, at position: Int64, plan: Plan, select: PreparedStatement,
        report: (Int64, String) -> Void, foreign: (ForeignValue) -> Void
    ) throws {
        let key = view.key(of: index)
        for part in 0..<plan.keyCount { select.bind(key[part], bytes: view.bytes, at: Int32(part + 1)) }
        defer { select.reset() }
        guard try select.step() else { return }
        let isLinked = select.integer(0) == view.events[index].previous
        if !isLinked {
            report(
                position,
                "points back to @\(view.events[index].previous), but the row's last event is @\(select.integer(0))")
        }
        let old = view.columns(of: index)
        for (column, columnIndex) in plan.columnIndices.enumerated() {
            guard !select.holds(old[columnIndex], bytes: view.bytes, in: Int32(column + 1)) else { continue }
            // The writer takes old values from the table. A segment whose bytes are damaged can't be read.
            if isLinked, !CatalogEntity.isReserved(plan.entity) {
                let id = view.shape(of: index).columns[columnIndex]
                foreign(ForeignValue(position: position, entity: plan.entity, column: id))
            } else {
                report(position, "has an old value that the row didn't have")
            }
        }
    }

    private func plan(_ shape: storage_shape) throws -> Plan? {
        guard let target = targets[shape.entity] else { return nil }
        let columns = (0..<Int(shape.column_count)).map { shape.columns[$0] }
        let key = PlanKey(entity: shape.entity, operation: shape.operation, columns: columns)
        if let known = plans[key] { return known }
        var columnIndices: [Int] = []
        var names: [String] = []
        for (columnIndex, id) in columns.enumerated() {
            guard let column = target.entity.live.first(where: { $0.id == id }) else { continue }
            columnIndices.append(columnIndex)
            names.append(target.column(column))
        }
        let keyNames = target.entity.key.map(target.column)
        guard keyNames.count == Int(shape.key_count) else {
            throw StorageError.corruptLog(
                "an event of \"\(target.entity.name)\" has a key of \(shape.key_count) columns")
        }
        let condition = target.keyCondition
        let sql: String
        let operation = operation(of: shape)
        // OR ABORT, because otherwise a conflict clause of the schema could delete other rows, or skip this one, silently.
        switch operation {
        case STORAGE_INSERT:
            let bound = names + ["_position"] + keyNames
            let added = target.addedColumns(notIn: columns)
            let all = (bound + added.map(target.column)).joined(separator: ", ")
            let values = bound.map { _ in "?" } + added.map { ExactValue($0.fallback).sql }
            sql = "INSERT OR ABORT INTO \(target.table)(\(all)) VALUES (\(values.joined(separator: ", ")))"
        case STORAGE_UPDATE:
            let assignments = (names + ["_position"]).map { "\($0) = ?" }.joined(separator: ", ")
            sql = "UPDATE OR ABORT \(target.table) SET \(assignments) WHERE \(condition)"
        default:
            sql = "DELETE FROM \(target.table) WHERE \(condition)"
        }
        let checked = checks && Int(shape.operation) != STORAGE_INSERT
        let selected = (["_position"] + names).joined(separator: ", ")
        let plan = Plan(
            statement: try PreparedStatement(database, sql),
            select: checked
                ? try PreparedStatement(database, "SELECT \(selected) FROM \(target.table) WHERE \(condition)") : nil,
            keyCount: keyNames.count, columnIndices: columnIndices, operation: operation, entity: shape.entity,
            tombstone: try target.tombstones.flatMap { try tombstone(shape.operation, in: $0) })
        // Updates of wide tables have as many shapes as there are sets of changed columns.
        if plans.count >= Self.planLimit { plans.removeAll() }
        plans[key] = plan
        return plan
    }

    private func operation(of shape: storage_shape) -> Int {
        switch (direction, Int(shape.operation)) {
        case (.backward, STORAGE_INSERT): STORAGE_DELETE
        case (.backward, STORAGE_DELETE): STORAGE_INSERT
        case (_, let operation): operation
        }
    }

    private func tombstone(_ operation: UInt32, in table: String) throws -> PreparedStatement? {
        switch Int(operation) {
        case STORAGE_INSERT:
            try PreparedStatement(database, "DELETE FROM \(table) WHERE entity = ?1 AND key = ?2 RETURNING position")
        case STORAGE_DELETE:
            try PreparedStatement(
                database, "INSERT OR REPLACE INTO \(table)(entity, key, position) VALUES (?1, ?2, ?3)")
        default: nil
        }
    }
}
