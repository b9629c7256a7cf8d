internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageProjections

extension Schema {
    /// Declares a custom projection. Its tables are created when the store is opened, and rebuilt if its version or the
    /// entities that it reads have changed.
    ///
    /// ```swift
    /// schema.addProjection(OrderTotals(), mode: .async, onFailure: .retry(3))
    /// ```
    ///
    /// First, the projection applies the whole history: an inline one while the store is opened, any other in the background.
    /// If an inline projection throws meanwhile, it is stalled, the store still opens, and `storage.projections` reports why.
    ///
    /// - Parameters:
    ///   - mode: Whether every commit updates it, or it is updated asynchronously afterwards.
    ///   - onFailure: What happens when it throws. An inline projection that throws in a commit always fails that commit.
    ///   - onReplayFailure: What happens when it throws while history is replayed.
    ///   - batchSize: The approximate number of events that it receives at once while it is behind, and that become durable
    ///     together. Commits wait for one batch at most; a commit larger than this is never split.
    public mutating func addProjection(
        _ projection: any Projection, mode: ProjectionMode = .inline, onFailure: FailurePolicy = .pause,
        onReplayFailure: FailurePolicy = .pause, batchSize: Int = 1_000
    ) {
        let registration = ProjectionRegistration(
            projection, mode: mode, onFailure: onFailure, onReplayFailure: onReplayFailure, batchSize: batchSize)
        addProjection(registration)
    }

    /// Removes a projection that this program no longer declares from the store; does nothing if the store doesn't have it.
    ///
    /// ```swift
    /// schema.dropProjection("order_totals")
    /// ```
    public mutating func dropProjection(_ name: String) {
        addStep("no projection \(name)") { tx in
            try tx.writer.userProjections?.forget(name, on: tx.writer, tx.database)
        }
    }
}
