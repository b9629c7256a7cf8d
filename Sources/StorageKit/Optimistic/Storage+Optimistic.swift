internal import Foundation
internal import StorageCore
public import StorageLog
internal import StorageViews

extension Storage {
    /// Makes changes as one commit, and shows them in ``LiveQuery/optimistic`` sequences immediately.
    ///
    /// ```swift
    /// try await storage.optimistically([.save(task), .delete(draft)], reason: "Publish")
    /// ```
    ///
    /// A user sees the changes before the write has begun and before it is durable. Once the commit is durable, the same rows
    /// are shown as confirmed; if it fails, the stored rows are shown again. Rows that foreign keys or triggers change are
    /// shown once they are stored.
    ///
    /// Only ``LiveQuery/optimistic`` sequences in this process show pending changes, marked as such. Views, reads, snapshots
    /// and other sequences never do.
    ///
    /// - Throws: ``StorageError`` as ``write(actor:app:reason:correlation:idempotencyKey:attributes:_:)`` does; nothing is stored then.
    @discardableResult
    public func optimistically(
        _ changes: [OptimisticChange], actor: String? = nil, app: String? = nil, reason: String? = nil,
        correlation: String? = nil
    ) async throws -> CommitReceipt {
        try await optimistically(changes) {
            try await write(actor: actor, app: app, reason: reason, correlation: correlation) { tx in
                for change in changes { try change.apply(tx) }
            }
        }
    }

    /// Shows changes in ``LiveQuery/optimistic`` sequences while an operation that will make them is running.
    ///
    /// ```swift
    /// try await storage.optimistically([.save(order)]) {
    ///     let confirmed = try await server.place(order)
    ///     try await storage.save(confirmed)
    /// }
    /// ```
    ///
    /// Use this if there are other changes than saves and deletes, or if something else, such as a server, decides about them.
    /// When the operation returns or throws, the rows are shown as they are stored.
    ///
    /// - Parameter operation: Makes the changes.
    /// - Returns: What the operation returns.
    /// - Throws: What the operation throws.
    public func optimistically<Result>(
        _ changes: [OptimisticChange], isolation: isolated (any Actor)? = #isolation,
        while operation: () async throws -> Result
    ) async rethrows -> Result {
        let now = Date(microseconds: config.clock.microseconds)
        let id = subscriptions.optimisticChanges.begin(changes.map { $0.makeRow(now) })
        defer { subscriptions.optimisticChanges.end(id) }
        return try await operation()
    }
}
