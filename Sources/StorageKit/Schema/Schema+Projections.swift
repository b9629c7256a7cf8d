internal import GRDB
internal import StorageCore
internal import StorageLog
public import StorageProjections

extension Schema {
    /// Declares a projection of your own. Its tables are made when the store is opened, and rebuilt when its version or
    /// the entities that it reads are others.
    ///
    /// ```swift
    /// schema.addProjection(OrderTotals(), mode: .async, onFailure: .retry(3))
    /// ```
    ///
    /// It applies all of history first: an inline one while the store is opened, another one in the background. If an
    /// inline projection throws then, it is stalled, the store is open, and `storage.projections` reports why.
    ///
    /// - Parameters:
    ///   - mode: Whether it is part of every commit, or follows behind.
    ///   - onFailure: What is done where it throws. An inline one that throws in a commit fails that commit, whatever is
    ///     said here.
    ///   - onReplayFailure: The same for history that is read again.
    ///   - batchSize: About how many events it is handed at once while it is behind, and how many become durable together.
    ///     Commits wait for one batch at the most; but a commit larger than this is never cut.
    public mutating func addProjection(
        _ projection: any Projection, mode: ProjectionMode = .inline, onFailure: FailurePolicy = .pause,
        onReplayFailure: FailurePolicy = .pause, batchSize: Int = 1_000
    ) {
        let registration = ProjectionRegistration(
            projection, mode: mode, onFailure: onFailure, onReplayFailure: onReplayFailure, batchSize: batchSize)
        addProjection(registration)
    }

    /// Takes a projection that this program doesn't declare any more out of the store; does nothing where there is none.
    public mutating func dropProjection(_ name: String) {
        addStep("no projection \(name)") { tx in
            try tx.writer.userProjections?.forget(name, on: tx.writer, tx.database)
        }
    }
}
