internal import GRDB
internal import StorageCore
package import StorageLog

extension StorageEngine {
    /// Runs statements that change rows as one commit, or only tries them. Triggers and foreign keys act as they do for the
    /// store's program.
    ///
    /// - Parameter sql: One or several statements. If no row changes, nothing is committed; if only rows of tables without history
    ///   change, that is kept without a commit.
    /// - Throws: SQLite's error; `invalid-argument` if they change the schema.
    package func execute(
        _ sql: String, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> ExecutionReport {
        let limit = RevertOutcome.conflictLimit
        let (found, receipt) = try await commit(
            metadata, isDryRun: isDryRun,
            keeps: { (report: ExecutionReport) in report.count > 0 || report.isUnrecorded }
        ) { writer, db in
            let start = writer.pendingEvents
            let unrecorded = writer.pendingUnrecordedChanges
            let schema = try Self.schemaVersion(of: db)
            try db.execute(sql: sql)
            guard try Self.schemaVersion(of: db) == schema else {
                throw StorageError(
                    .invalidArgument, "The statement changes the schema.",
                    remedy: "Change it in a migration of the program whose store it is.")
            }
            let changes = PendingChanges(writer, from: start, limit: isDryRun ? limit : 0)
            return ExecutionReport(
                inserted: changes.inserted, updated: changes.updated, deleted: changes.deleted,
                unrecorded: max(0, writer.pendingUnrecordedChanges - unrecorded), receipt: nil, plan: changes.first)
        }
        return ExecutionReport(
            inserted: found?.inserted ?? 0, updated: found?.updated ?? 0, deleted: found?.deleted ?? 0,
            unrecorded: found?.unrecorded ?? 0, receipt: receipt.flatMap { $0.commit == nil ? nil : $0 },
            plan: found?.plan ?? [])
    }

    private static func schemaVersion(of db: GRDB.Database) throws -> Int? {
        try Int.fetchOne(db, sql: "PRAGMA schema_version")
    }
}
