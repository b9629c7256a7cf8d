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
    private let engine: StorageEngine
    private let names: [String]

    /// - Parameter names: The entities whose tables are recorded; all where empty.
    package init(_ engine: StorageEngine, _ names: [String] = []) {
        self.engine = engine
        self.names = names
    }

    /// - Parameter isDryRun: Whether the commit is only tried. The tables are rebuilt anyway, so use it on a copy of
    ///   the store.
    /// - Throws: `conflict` if earlier rebuilds have kept tables, or if the rows can't be stored in the tables, such as
    ///   two with one key.
    package func run(metadata: CommitMetadata, isDryRun: Bool = false) async throws -> RevertReport {
        let (names, live) = try await copy()
        _ = try await Rebuild(engine, names, options: RebuildOptions(compares: false, swaps: true, keepsOld: true))
            .run()
        let report = try await engine.restore(names, from: live, policy: .abort, metadata: metadata, isDryRun: isDryRun)
        try await Rebuild.abandon(engine)
        return report
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
