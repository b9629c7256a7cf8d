internal import CSQLite
internal import GRDB
package import StorageCore
package import StorageLog

/// Makes tables hold again what they held at a point, by changes of their own, inside the commit under way.
package final class Restoration {
    private let writer: LogWriter
    private let past: PastState
    private let policy: ConflictPolicy
    private var outcome = RevertOutcome()

    /// - Parameter past: A state in the shape of now, whose tables are filled already.
    package init(_ writer: LogWriter, from past: PastState, policy: ConflictPolicy) {
        self.writer = writer
        self.past = past
        self.policy = policy
    }

    /// - Parameter key: The only row to restore; every row where nil.
    /// - Throws: `conflict` where rows of other tables would be deleted with a row and the policy refuses.
    package func run(_ entities: [CatalogEntity], key: [StorageValue]? = nil) throws -> RevertOutcome {
        try writer.statement("PRAGMA defer_foreign_keys = ON").execute()
        try past.database.writeWithoutTransaction { db in
            guard let source = db.sqliteConnection else { throw StorageError.closed() }
            let key = key?.map { ExactValue($0) }
            for entity in entities { try bringBack(entity, key, from: source) }
            for entity in entities { try takeAway(entity, key, from: source) }
        }
        if policy == .refuse, !outcome.conflicts.isEmpty { throw StorageError.refused(outcome.conflicts) }
        return outcome
    }

    /// Rows of then that are gone or differ.
    private func bringBack(_ entity: CatalogEntity, _ key: [ExactValue]?, from source: OpaquePointer) throws {
        let columns = entity.key + entity.live.filter { $0.keyPlace == 0 }
        let names = columns.map { quoted($0.stored) }
        let list = names.joined(separator: ", ")
        let table = quoted(entity.stored)
        let select = try StorageLog.Statement(source, "SELECT \(list) FROM \(table)\(Self.condition(entity, key))")
        Self.bind(key, to: select)
        let find = try StorageLog.Statement(
            writer.database, "SELECT \(list) FROM \(table)\(Self.condition(entity, []))")
        let access = try RowAccess(entity, writer)
        let keyCount = entity.key.count
        while try select.step() {
            let values = columns.indices.map { ExactValue(select, column: Int32($0)) }
            let key = Array(values.prefix(keyCount))
            Self.bind(key, to: find)
            let isThere = try find.step()
            var changes: [UInt32: ExactValue] = [:]
            for (place, column) in columns.enumerated().dropFirst(keyCount) {
                let isSame = isThere && ExactValue(find, column: Int32(place)) == values[place]
                if !isSame { changes[column.id] = values[place] }
            }
            find.reset()
            if !isThere {
                try access.insert(key, changes)
                outcome.inserted += 1
            } else if !changes.isEmpty {
                try access.update(key, changes)
                outcome.updated += 1
            }
        }
    }

    /// Rows that weren't there then.
    private func takeAway(_ entity: CatalogEntity, _ key: [ExactValue]?, from source: OpaquePointer) throws {
        let table = quoted(entity.stored)
        let rowid = entity.rowidName ?? "rowid"
        let keys = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
        let condition = Self.condition(entity, key)
        // A row at a time, each found anew, because rows are deleted on the way.
        let next = try StorageLog.Statement(
            writer.database,
            """
            SELECT \(rowid), \(keys) FROM \(table)\(condition)\(condition.isEmpty ? " WHERE" : " AND") \(rowid) > ?
            ORDER BY \(rowid) LIMIT 1
            """)
        let find = try StorageLog.Statement(source, "SELECT 1 FROM \(table)\(Self.condition(entity, []))")
        let access = try RowAccess(entity, writer)
        var last = Int64.min
        while true {
            Self.bind(key, to: next)
            next.bind(last, at: Int32((key?.count ?? 0) + 1))
            guard try next.step() else { return }
            last = next.integer(0)
            let row = entity.key.indices.map { ExactValue(next, column: Int32($0 + 1)) }
            next.reset()
            Self.bind(row, to: find)
            let wasThere = try find.step()
            find.reset()
            if !wasThere { try delete(row, entity, access) }
        }
    }

    private func delete(_ key: [ExactValue], _ entity: CatalogEntity, _ access: RowAccess) throws {
        if try access.delete(key, withOthers: policy == .overwrite) {
            outcome.deleted += 1
        } else {
            outcome.add(
                RevertConflict(
                    table: entity.name, key: key.map(\.value), column: nil,
                    reason: "rows that refer to it would go with it",
                    expected: nil, found: nil))
        }
    }

    private static func condition(_ entity: CatalogEntity, _ key: [ExactValue]?) -> String {
        guard key != nil else { return "" }
        return " WHERE " + RowSelect.condition(of: entity)
    }

    private static func bind(_ key: [ExactValue]?, to statement: StorageLog.Statement) {
        for (place, value) in (key ?? []).enumerated() { value.bind(to: statement, at: Int32(place + 1)) }
    }
}
