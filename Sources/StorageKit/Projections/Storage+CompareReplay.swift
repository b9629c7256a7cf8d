internal import GRDB
public import StorageCore
internal import StorageLog
public import StorageProjections

extension Storage {
    /// Runs the history through two versions of a projection and returns where they diverge.
    ///
    /// ```swift
    /// let comparison = try await storage.compareReplay(old: OrderTotals(), new: OrderTotals2())
    /// if let divergence = comparison.divergence {
    ///     print("they differ from @\(divergence.position) on, in \(comparison.differingRows) rows in the end")
    /// }
    /// ```
    ///
    /// Both work in temporary databases with tables of their own. The store isn't changed, and other tasks may write to it
    /// meanwhile. Tables and columns that both versions have are compared. The log is read once, and both apply every event,
    /// commit by commit; memory use stays small.
    /// - Parameters:
    ///   - from: Where the comparison begins. Earlier events are applied first, because a projection's rows depend on the whole
    ///     history.
    ///   - to: The last point to apply.
    ///   - limit: The maximum number of differing rows to return.
    /// - Throws: ``StorageError`` with `not-found` for a point that isn't in the log, `invalid-argument` if the two have no table in common,
    ///   `projection-failed` if one of them throws.
    public func compareReplay(
        old: some Projection, new: some Projection, from: StoragePoint = .position(0), to: StoragePoint = .head,
        limit: Int = 1_000
    ) async throws -> ReplayComparison {
        let upcasts = snapshots.upcasts
        return try await engine.readLong { (db: GRDB.Database) in
            let connection = try db.connection
            let reader = LogReader(connection)
            let (first, last) = (try reader.position(of: from), try reader.position(of: to))
            guard first <= last else {
                throw StorageError(
                    .invalidArgument, "The point to begin at, @\(first), lies after the last one, @\(last).",
                    remedy: "Give the older point first.")
            }
            return try SideBySideReplay(old: old, new: new, of: connection, upcasts: upcasts).run(
                from: first, to: last, limit: limit)
        }
    }
}
