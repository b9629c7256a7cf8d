internal import Foundation
internal import StorageCore
package import StorageLog

extension LogWriter {
    /// Begins the history of tables created with SQL, with all their rows in the current commit. Skips a table that has a history
    /// already, or had one before it was renamed or dropped: a program's declaration names it still.
    ///
    /// - Throws: `not-found` if there is no such table, `schema-mismatch` if it can't have a history, `limit-exceeded` if the rows are too
    ///   many or too large for one commit.
    package func adopt(_ tables: [String]) throws {
        let names = try tables.filter { table in
            guard catalog.entity(stored: table) == nil else { return false }
            return try database.hasTable(table) || !hasHadEntity(stored: table)
        }
        guard !names.isEmpty else { return }
        let plan = try AdoptionInspection(database, catalog: catalog).plan(names)
        for table in plan.left { throw StorageError.notAdopted(table) }
        let before = try SchemaUses(database)
        let entities = try plan.adopted.map { try declareAdopted($0.name) }
        try SchemaUses(database).check(against: before)
        // If a change before these rows has failed, its error isn't theirs.
        try checkCapture()
        for entity in entities {
            var rowid: Int64?
            repeat {
                rowid = try recordBaseline(of: entity, after: rowid, count: 1_024)
                do {
                    try checkCapture()
                } catch let error as StorageError where error.code == .limitExceeded {
                    throw StorageError.largerThanCommit(entity.name, error)
                }
            } while rowid != nil
        }
    }

    /// Whether the table of an entity has this name, or had it before it was renamed. Costs one look-up for each change of each entity.
    private func hasHadEntity(stored table: String) throws -> Bool {
        let log = LogReader(database)
        for entity in catalog.entities where !entity.isReserved {
            var isFound = false
            try log.forEachVersion(of: [.integer(Int64(entity.id))], in: .catalog) { batch, index in
                let event = batch.event(at: index, catalog: catalog)
                for case .text(let name)? in [event.old?["stored"], event.new?["stored"]] {
                    isFound = isFound || name.folded == table.folded
                }
                return !isFound
            }
            if isFound { return true }
        }
        return false
    }
}

extension StorageError {
    fileprivate static func largerThanCommit(_ table: String, _ cause: StorageError) -> StorageError {
        StorageError(
            .limitExceeded,
            "\"\(table)\" can't get a history here: in a store, all rows of the tables that are adopted together are recorded by one commit. \(cause.message)",
            remedy:
                "If other tables are adopted with it, adopt one at a time: storagekit adopt STORE TABLE --in-place. Or adopt the plain database before it becomes a store, which takes several commits: storagekit adopt DATABASE -s NEW. Or copy the rows, in several commits, to a table that has a history.",
            cause: cause)
    }

    static func notAdopted(_ table: AdoptionPlan.Table) -> StorageError {
        StorageError(
            .schemaMismatch, "\"\(table.name)\" can't have a history: \(table.obstacle?.reason ?? "").",
            remedy: table.obstacle?.remedy ?? "")
    }
}
