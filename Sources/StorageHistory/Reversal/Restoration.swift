internal import CSQLite
internal import GRDB
package import StorageCore
package import StorageLog

/// Restores tables to what they held at a point, by changes of their own, inside the current commit.
package final class Restoration {
    private let writer: LogWriter
    private let snapshot: MaterializedSnapshot
    private let policy: ConflictPolicy
    private let numbered: Set<UInt32>
    private let remedy: String
    private var outcome = RevertOutcome()
    /// Rows whose restoration would leave a reference to a row that isn't there.
    private var leftOut: Set<RowAddress> = []
    /// Rows that couldn't be restored, because others hold their unique values, or because foreign keys would change others with
    /// them.
    private var blocked: [WaitingRow] = []
    /// Rows that couldn't be deleted, because foreign keys would delete or change others with them.
    private var refused: [WaitingRow] = []
    /// Whether rows that foreign keys change with a restored one may be changed: only to overwrite, and after all that is possible
    /// otherwise.
    private var changesOthers = false
    private var editors: [UInt32: RowEditor] = [:]

    private struct WaitingRow {
        let entity: CatalogEntity
        let key: [ExactValue]
        let reason: String

        var row: RowAddress { RowAddress(entity: entity.id, values: key) }
    }

    /// - Parameters:
    ///   - snapshot: A state in the current schema, whose tables are filled already.
    ///   - numbered: The entities whose missing rows get the rowids that they have in the snapshot, which no other row has.
    ///   - remedy: What the user can do about conflicts, if the policy is to abort.
    package init(
        _ writer: LogWriter, from snapshot: MaterializedSnapshot, policy: ConflictPolicy,
        keepingRowidsOf numbered: Set<UInt32> = [], remedy: String = StorageError.reversalRemedy
    ) {
        self.writer = writer
        self.snapshot = snapshot
        self.policy = policy
        self.numbered = numbered
        self.remedy = remedy
    }

    /// - Parameter key: The only row to restore; every row if nil.
    /// - Throws: `conflict` if rows of other tables would be deleted with a row, if remaining rows hold unique values of
    ///   restored ones, or if a row would refer to one that isn't there, and the policy doesn't allow it.
    package func run(_ entities: [CatalogEntity], key: [StorageValue]? = nil) throws -> RevertOutcome {
        try writer.statement("PRAGMA defer_foreign_keys = ON").execute()
        try snapshot.database.writeWithoutTransaction { db in
            let source = try db.connection
            let key = key?.map { ExactValue($0) }
            let conflicts = try writer.keepingReferences(policy) { rows in
                (leftOut, outcome, blocked, refused) = (rows, RevertOutcome(), [], [])
                for entity in entities { try restoreRows(of: entity, key: key, from: source) }
                for entity in entities { try deleteRows(of: entity, key: key, missingFrom: source) }
                try retry(from: source)
                try replaceTogether(from: source)
                if policy == .overwrite {
                    try deleteWithOthers(entities, key: key, from: source)
                    try replaceTogether(from: source)
                    try changeWithOthers(entities, key: key, from: source)
                    try replaceTogether(from: source)
                }
                try reinsertWithOthers(of: entities, key: key, from: source)
                reportConflicts()
            }
            for conflict in conflicts { outcome.add(conflict) }
        }
        if policy == .abort, !outcome.conflicts.isEmpty {
            throw StorageError.refused(outcome.conflicts, remedy: remedy)
        }
        return outcome
    }

    /// Restores rows of the snapshot that are missing or differ.
    private func restoreRows(of entity: CatalogEntity, key: [ExactValue]?, from source: Connection) throws {
        let columns = entity.key + entity.live.filter { $0.keyOrdinal == 0 }
        let names = columns.map { quoted($0.stored) }
        let list = names.joined(separator: ", ")
        let table = quoted(entity.stored)
        let rowid = numbered.contains(entity.id) ? entity.rowidName : nil
        let selected = ([list] + [rowid].compactMap { $0 }).joined(separator: ", ")
        let select = try PreparedStatement(source, "SELECT \(selected) FROM \(table)\(Self.condition(entity, key))")
        Self.bind(key, to: select)
        let find = try PreparedStatement(
            writer.database, "SELECT \(list) FROM \(table)\(Self.condition(entity, []))")
        let access = try access(to: entity)
        let keyCount = entity.key.count
        while try select.step() {
            let values = columns.indices.map { ExactValue(select, column: Int32($0)) }
            let key = Array(values.prefix(keyCount))
            if isLeftOut(key, of: entity) { continue }
            Self.bind(key, to: find)
            let isThere = try find.step()
            var changes: [UInt32: ExactValue] = [:]
            for (index, column) in columns.enumerated().dropFirst(keyCount) {
                let isSame = isThere && ExactValue(find, column: Int32(index)) == values[index]
                if !isSame { changes[column.id] = values[index] }
            }
            find.reset()
            if isThere && changes.isEmpty { continue }
            let reason: String?
            if isThere {
                reason = try access.update(key, changes, withOthers: changesOthers)
            } else if let twin = try access.twin(of: key) {
                // The table treats both keys as equal, so that row can't have existed then.
                reason = try access.update(twin, changes, key: key)
            } else {
                let number = rowid.map { _ in select.integer(Int32(columns.count)) }
                reason = try access.insert(key, changes, rowid: number)
            }
            if let reason { blocked.append(WaitingRow(entity: entity, key: key, reason: reason)) }
        }
    }

    /// Restores and deletes rows that others prevented: most of those are gone by now or hold something else.
    private func retry(from source: Connection) throws {
        var count: Int
        repeat {
            count = blocked.count + refused.count
            try deleteRefusedRows(withOthers: false)
            // The last first: in a row of values that have moved by one, each waits for the one after it.
            try restoreAgain(blocked.reversed(), from: source)
        } while blocked.count + refused.count < count
    }

    /// Deletes rows that are left, and inserts again those that the snapshot has, under the rows that refer to them, which stay as
    /// they are: without the actions of foreign keys.
    private func replaceTogether(from source: Connection) throws {
        // Together first: a row that is to be deleted may hold the unique value of one that is to be restored, and others refer to it.
        if !blocked.isEmpty, !refused.isEmpty { try replaceIfSound(blocked, deleting: refused, from: source) }
        if !blocked.isEmpty { try replaceIfSound(blocked, deleting: [], from: source) }
        // Those that only exchange their unique values don't depend on references to others.
        let exchanged = blocked.filter { $0.reason != RowEditor.othersAreChanged }
        if !exchanged.isEmpty, exchanged.count < blocked.count {
            try replaceIfSound(exchanged, deleting: [], from: source)
        }
        if !blocked.isEmpty || !refused.isEmpty { try retry(from: source) }
        if !refused.isEmpty { try replaceIfSound([], deleting: refused, from: source) }
    }

    /// - Parameters:
    ///   - inserts: Some of the blocked rows.
    ///   - deletes: The refused rows, or none.
    private func replaceIfSound(
        _ inserts: [WaitingRow], deleting deletes: [WaitingRow], from source: Connection
    ) throws {
        let waiting = blocked
        let isSound = try keepingIfTrue { try replace(inserts, deleting: deletes, from: source) }
        let done = isSound ? Set(inserts.map(\.row)) : []
        blocked = waiting.filter { !done.contains($0.row) }
        if isSound, !deletes.isEmpty { refused = [] }
    }

    /// - Returns: Whether all rows were inserted, and every reference is valid.
    private func replace(_ inserts: [WaitingRow], deleting deletes: [WaitingRow], from source: Connection) throws
        -> Bool
    {
        writer.database.setForeignKeysEnabled(false)
        defer { writer.database.setForeignKeysEnabled(true) }
        for row in deletes { _ = try access(to: row.entity).delete(row.key, withOthers: false) }
        for row in inserts { _ = try access(to: row.entity).delete(row.key, withOthers: false) }
        try restoreAgain(inserts, from: source)
        // References that were missing before are still counted as such, though the rows may be there by now.
        return try blocked.isEmpty && !writer.hasUnresolvedReferences
            && writer.referencesAreSound(around: inserts.map(\.entity.stored) + deletes.map(\.entity.stored))
    }

    /// Deletes rows that are left together with those that foreign keys delete or change with them. Of these, the snapshot's are
    /// restored again.
    private func deleteWithOthers(_ entities: [CatalogEntity], key: [ExactValue]?, from source: Connection) throws {
        guard !refused.isEmpty else { return }
        try deleteRefusedRows(withOthers: true)
        blocked = []
        for entity in entities { try restoreRows(of: entity, key: key, from: source) }
        try retry(from: source)
    }

    /// Changes rows under those that refer to them, with the actions of foreign keys. Rows that these change are restored again.
    private func changeWithOthers(_ entities: [CatalogEntity], key: [ExactValue]?, from source: Connection) throws {
        guard !blocked.isEmpty else { return }
        changesOthers = true
        try retry(from: source)
        changesOthers = false
        blocked = []
        for entity in entities { try restoreRows(of: entity, key: key, from: source) }
        try retry(from: source)
    }

    /// Deletes rows that others block, and inserts them again, with the actions of foreign keys. Rows that these delete or change
    /// are restored again.
    private func reinsertWithOthers(of entities: [CatalogEntity], key: [ExactValue]?, from source: Connection) throws {
        guard !blocked.isEmpty else { return }
        let waiting = blocked
        let isDone = try keepingIfTrue {
            for row in try writer.referringFirst(waiting, by: \.row) {
                let access = try access(to: row.entity)
                guard try access.row(row.key) != nil else { continue }
                guard try access.delete(row.key, withOthers: policy == .overwrite) == nil else { return false }
            }
            try restoreAgain(waiting, from: source)
            if policy == .overwrite { for entity in entities { try restoreRows(of: entity, key: key, from: source) } }
            return blocked.isEmpty
        }
        blocked = isDone ? [] : waiting
    }

    /// Makes changes, and undoes them if the result is false.
    private func keepingIfTrue(_ body: () throws -> Bool) throws -> Bool {
        try writer.statement("SAVEPOINT storage_restoration").execute()
        let isKept = try body()
        if !isKept { try writer.statement("ROLLBACK TO storage_restoration").execute() }
        try writer.statement("RELEASE storage_restoration").execute()
        return isKept
    }

    private func restoreAgain(_ rows: [WaitingRow], from source: Connection) throws {
        blocked = []
        for row in rows { try restoreRows(of: row.entity, key: row.key, from: source) }
    }

    /// Deletes rows that the snapshot doesn't have.
    private func deleteRows(
        of entity: CatalogEntity, key: [ExactValue]?, missingFrom source: Connection
    ) throws {
        let table = quoted(entity.stored)
        let rowid = try entity.rowid
        let keys = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
        let condition = Self.condition(entity, key)
        // One row at a time, each looked up again, because deletes may remove others.
        let next = try PreparedStatement(
            writer.database,
            """
            SELECT \(rowid), \(keys) FROM \(table)\(condition)\(condition.isEmpty ? " WHERE" : " AND") \(rowid) >= ?
            ORDER BY \(rowid) LIMIT 1
            """)
        let find = try PreparedStatement(source, "SELECT 1 FROM \(table)\(Self.condition(entity, []))")
        let access = try access(to: entity)
        var first: Int64? = .min
        while let least = first {
            Self.bind(key, to: next)
            next.bind(least, at: Int32((key?.count ?? 0) + 1))
            guard try next.step() else { return }
            first = next.integer(0) < .max ? next.integer(0) + 1 : nil
            let row = entity.key.indices.map { ExactValue(next, column: Int32($0 + 1)) }
            next.reset()
            Self.bind(row, to: find)
            let wasThere = try find.step()
            find.reset()
            guard !wasThere, !isLeftOut(row, of: entity) else { continue }
            if let reason = try access.delete(row, withOthers: false) {
                refused.append(WaitingRow(entity: entity, key: row, reason: reason))
            }
        }
    }

    /// Deletes rows under which others were: most of those are gone by now, because they are deleted as well.
    private func deleteRefusedRows(withOthers: Bool) throws {
        // With others, each would be deleted with all of a chain of rows below it, and fail where that is too long.
        var isSlow = withOthers
        while !refused.isEmpty {
            // The last first: a row mostly comes before those that refer to it.
            let reversed = Array(refused.reversed())
            let waiting = try isSlow ? writer.referringFirst(reversed, by: \.row) : reversed
            refused = try waiting.compactMap { row in
                guard let reason = try access(to: row.entity).delete(row.key, withOthers: withOthers) else {
                    return nil
                }
                // An attempt that may delete others says more.
                return withOthers ? WaitingRow(entity: row.entity, key: row.key, reason: reason) : row
            }
            guard refused.count < waiting.count else {
                refused.reverse()
                return
            }
            isSlow = withOthers || refused.count > waiting.count / 2
        }
    }

    private func reportConflicts() {
        for row in blocked + refused {
            outcome.add(
                RevertConflict(
                    table: row.entity.name, key: row.key.map(\.value), column: nil, reason: row.reason, expected: nil,
                    found: nil))
        }
    }

    private func access(to entity: CatalogEntity) throws -> RowEditor {
        if let known = editors[entity.id] { return known }
        let access = try RowEditor(entity, writer)
        editors[entity.id] = access
        return access
    }

    private func isLeftOut(_ key: [ExactValue], of entity: CatalogEntity) -> Bool {
        !leftOut.isEmpty && leftOut.contains(RowAddress(entity: entity.id, values: key))
    }

    private static func condition(_ entity: CatalogEntity, _ key: [ExactValue]?) -> String {
        guard key != nil else { return "" }
        return " WHERE " + RowLookup.condition(of: entity)
    }

    private static func bind(_ key: [ExactValue]?, to statement: PreparedStatement) {
        for (index, value) in (key ?? []).enumerated() { value.bind(to: statement, at: Int32(index + 1)) }
    }
}
