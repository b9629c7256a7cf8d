public import StorageCore
public import StorageEntities
public import StorageHistory
internal import StorageLog

extension Storage {
    /// Reverts a commit with a compensating commit.
    ///
    /// Each column is treated separately: if it still holds the commit's value, it gets its previous value. A column that has
    /// changed since is a conflict; by default nothing is done then. Rows without a net change in the commit, such as one that
    /// was inserted and deleted in it, aren't reverted, nor are schema changes.
    ///
    /// ```swift
    /// let report = try await storage.revert(77, onConflict: .skip, reason: "wrong import")
    /// print(report.outcome.count, report.outcome.conflicts)
    /// ```
    ///
    /// - Parameter isDryRun: Whether to report only what would be done: ``RevertReport/plan``.
    /// - Throws: `conflict` if there are conflicts and the policy is to abort; `not-found` for a commit that doesn't exist or changes no rows.
    @discardableResult
    public func revert(
        _ commit: Int64, onConflict policy: ConflictPolicy = .abort, actor: String? = nil, reason: String? = nil,
        isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.revert(commit, policy: policy, metadata: metadata(actor, reason), isDryRun: isDryRun)
    }

    /// Reverts a range of commits as a whole, with one commit: a row that several of them changed gets the values from before
    /// the first of them. Tags, notes and recorded operations stay.
    ///
    /// - Parameter commits: The numbers of the first and the last commit.
    /// - Throws: The same errors as for a single commit.
    @discardableResult
    public func revert(
        _ commits: ClosedRange<Int64>, onConflict policy: ConflictPolicy = .abort, actor: String? = nil,
        reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.revert(commits, policy: policy, metadata: metadata(actor, reason), isDryRun: isDryRun)
    }

    /// Undoes the newest commit that isn't undone yet and has something left to revert. Call it again to undo the commit before
    /// that. Changes by migrations and column conversions aren't undone, nor are the rows of an adopted database; to revert a
    /// migration, pass its number to `revert`.
    ///
    /// - Parameters:
    ///   - author: The actor whose newest commit is undone; any actor's if nil. An undo or redo belongs to the actor of the original commit.
    ///   - policy: What happens if a value has changed since, also in a dry run.
    ///   - isDryRun: Whether to report only what would be done.
    /// - Throws: ``StorageError`` with `not-found` if there is nothing to undo, `conflict` if a value has changed since and
    ///   the policy is to abort; also as ``Storage`` says.
    @discardableResult
    public func undo(
        of author: String? = nil, onConflict policy: ConflictPolicy = .abort, actor: String? = nil,
        reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.undo(
            of: author, policy: policy, metadata: metadata(actor ?? author, reason), isDryRun: isDryRun)
    }

    /// Redoes the newest undo, if the actor (anyone, if nil) has committed nothing since.
    ///
    /// - Parameters:
    ///   - author: The actor whose commit was undone; any actor's if nil.
    ///   - policy: What happens if a value has changed since, also in a dry run.
    ///   - isDryRun: Whether to report only what would be done.
    /// - Throws: ``StorageError`` with `not-found` if there is nothing to redo, `conflict` if a value has changed since and
    ///   the policy is to abort; also as ``Storage`` says.
    @discardableResult
    public func redo(
        of author: String? = nil, onConflict policy: ConflictPolicy = .abort, actor: String? = nil,
        reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.redo(
            of: author, policy: policy, metadata: metadata(actor ?? author, reason), isDryRun: isDryRun)
    }

    /// Restores an entity's table to its state at a point, with a compensating commit. The whole history is kept.
    ///
    /// - Throws: `conflict` if the policy is to abort and either rows that didn't exist then can't be deleted without deleting
    ///   rows of other entities, or a remaining row holds a unique value that a restored row needs.
    @discardableResult
    public func restore<E: RegisteredEntity>(
        _ type: E.Type, to point: StoragePoint, onConflict policy: ConflictPolicy = .abort, actor: String? = nil,
        reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.restore(
            [E.Record.databaseTableName], to: point, upcasts: snapshots.upcasts, policy: policy,
            metadata: metadata(actor, reason), isDryRun: isDryRun)
    }

    /// Restores one row to its state at a point; deletes it if it didn't exist then.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a point that isn't in the log, `conflict` as for a whole
    ///   table; also as ``Storage`` says.
    @discardableResult
    public func restore<E: RegisteredEntity>(
        _ type: E.Type, id: E.Id, to point: StoragePoint, onConflict policy: ConflictPolicy = .abort,
        actor: String? = nil, reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.restore(
            [E.Record.databaseTableName], key: [E.Record.key(of: id)], to: point, upcasts: snapshots.upcasts,
            policy: policy, metadata: metadata(actor, reason), isDryRun: isDryRun)
    }

    /// Restores every entity to its state at a point, and overwrites what has changed since.
    ///
    /// Rows that can't be restored stay as they are, for example because rows of a table without history refer to them: see
    /// `outcome.conflicts` of the report. A table that was dropped since isn't created again: see ``RevertReport/droppedTables``.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a point that isn't in the log; also as ``Storage`` says.
    @discardableResult
    public func restore(
        to point: StoragePoint, actor: String? = nil, reason: String? = nil, isDryRun: Bool = false
    ) async throws -> RevertReport {
        try await engine.restore(
            [], to: point, upcasts: snapshots.upcasts, policy: .overwrite, metadata: metadata(actor, reason),
            isDryRun: isDryRun)
    }

    func metadata(_ actor: String?, _ reason: String?) -> CommitMetadata {
        CommitMetadata(
            actor: actor ?? CommitContext.actor, app: CommitContext.app, reason: reason,
            correlation: CommitContext.correlation)
    }
}
