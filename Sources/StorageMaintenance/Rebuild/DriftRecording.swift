internal import GRDB
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Records changes that another program has made without the log as events: afterwards the log agrees with the tables.
///
/// An event contains the old values, which only the log has. So the commit first sets the tables to what the log has for
/// them, which was folded beside them, and then restores what they held. Both are one transaction: until it is durable, the
/// tables hold what the other program wrote, and so they do if a row can't be recorded or the process is killed.
package struct DriftRecording: Sendable {
    package struct Outcome: Sendable {
        /// What was recorded, or would be.
        package let changes: RevertReport
        /// After a dry run, how many rows differed from the log. Of those, rows that differ only in their positions aren't
        /// recorded: the positions belong to the log.
        package let differingRows: Int
    }

    private let engine: StorageEngine
    private let names: [String]
    private static let remedy =
        "Correct these rows in the tables, then record again; or record other tables only, by their names. To discard such changes: storagekit rebuild"

    /// - Parameter names: The entities whose tables are recorded; all where empty.
    package init(_ engine: StorageEngine, _ names: [String] = []) {
        self.engine = engine
        self.names = names
    }

    /// - Parameter isDryRun: Whether the commit is only tried. New tables are built beside the old ones anyway, so use it on a
    ///   copy of the store.
    /// - Throws: `conflict` or `invalid-value` if rows can't be stored, such as two with one key, and `corrupt` if the tables
    ///   themselves were changed; they are as before then.
    package func run(metadata: CommitMetadata, isDryRun: Bool = false) async throws -> Outcome {
        let (names, live) = try await copy()
        let rebuild = Rebuild(engine, names, options: RebuildOptions(compares: isDryRun, swaps: false))
        let (entities, rebuilt) = try await rebuild.build()
        let position = live.position
        let result: Result<RevertReport, any Error>
        do {
            result = .success(
                try await engine.restore(
                    names, from: live, policy: .abort, metadata: metadata, isDryRun: isDryRun, remedy: Self.remedy
                ) { writer, db in
                    guard writer.nextPosition == position + 1 else { throw Self.changedMeanwhile() }
                    do {
                        return try RebuildWriter(writer: writer, db: db).restoreRows(entities)
                    } catch is RebuildWriter.Outdated {
                        throw Self.changedMeanwhile()
                    }
                })
        } catch {
            result = .failure(error)
        }
        // What was recorded stays, and the reason why nothing was is the relevant one. A rebuild resumes what is left.
        try? await rebuild.abandon(entities)
        return Outcome(changes: try result.get(), differingRows: rebuilt.differingRows)
    }

    private static func changedMeanwhile() -> StorageError {
        StorageError(.conflict, "The store changed while its tables were read.", remedy: "Try again.")
    }

    private func copy() async throws -> ([String], MaterializedSnapshot) {
        let names = names
        return try await engine.read { (db: GRDB.Database) in
            let connection = try db.connection
            let head = try LogReader(connection).head().position
            let live = try MaterializedSnapshot(at: head, of: db, schema: .current)
            let all = names.isEmpty ? live.catalog.live.map(\.name) : names
            // Changes of rows can be recorded, those of tables only by the program that declares them.
            try ForeignSchemaChange.check(of: all, live.catalog, in: connection)
            try live.copy(tables: all, from: db)
            return (all, live)
        }
    }
}
