internal import GRDB
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Records changes that another program has made without the log as events: afterwards the log agrees with the tables.
///
/// The tables are rebuilt from the log first, because an event contains the old values, which only the log has; then
/// their current content is restored, as one commit. The rebuild keeps the old tables until that is done, so that a
/// crash between the two loses nothing.
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

    /// - Parameter isDryRun: Whether the commit is only tried. The tables are rebuilt anyway, so use it on a copy of
    ///   the store.
    /// - Throws: `conflict` if earlier rebuilds have kept tables, or if the rows can't be stored in the tables, such as
    ///   two with one key.
    package func run(metadata: CommitMetadata, isDryRun: Bool = false) async throws -> Outcome {
        let (names, live) = try await copy()
        let options = RebuildOptions(compares: isDryRun, swaps: true, keepsOld: true)
        let rebuilt = try await Rebuild(engine, names, options: options).run()
        let changes = try await engine.restore(
            names, from: live, policy: .abort, metadata: metadata, isDryRun: isDryRun, remedy: Self.remedy)
        try await Rebuild.abandon(engine)
        return Outcome(changes: changes, differingRows: rebuilt.differingRows)
    }

    private func copy() async throws -> ([String], MaterializedSnapshot) {
        let names = names
        return try await engine.read { (db: GRDB.Database) in
            let connection = try db.connection
            guard try RebuildLeftovers(connection).isEmpty else {
                throw StorageError(
                    .conflict, "An earlier rebuild was interrupted, or has kept old tables.",
                    remedy: "Discard them first: storagekit rebuild --abandon")
            }
            let head = try LogReader(connection).head().position
            let live = try MaterializedSnapshot(at: head, of: db, schema: .current)
            let all = names.isEmpty ? live.catalog.live.map(\.name) : names
            try live.copy(tables: all, from: db)
            return (all, live)
        }
    }
}
