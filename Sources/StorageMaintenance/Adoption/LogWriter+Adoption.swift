internal import Foundation
internal import StorageCore
package import StorageLog

extension LogWriter {
    /// Begins the history of a table created with SQL, with all its rows in the current commit. Does nothing if the
    /// table has a history already.
    ///
    /// - Throws: `schema-mismatch` if the table can't have a history.
    package func adopt(_ table: String) throws {
        guard catalog.entity(stored: table) == nil else { return }
        let plan = try AdoptionInspection(database).plan([table])
        for table in plan.left { throw StorageError.notAdopted(table) }
        let before = try SchemaUses(database)
        let entities = try plan.adopted.map { try declareAdopted($0.name) }
        try SchemaUses(database).check(against: before)
        for entity in entities {
            var rowid: Int64?
            repeat { rowid = try recordBaseline(of: entity, after: rowid, count: 1_024) } while rowid != nil
        }
    }
}

extension StorageError {
    static func notAdopted(_ table: AdoptionPlan.Table) -> StorageError {
        StorageError(
            .schemaMismatch, "\"\(table.name)\" can't have a history: \(table.obstacle?.reason ?? "").",
            remedy: table.obstacle?.remedy ?? "")
    }
}
