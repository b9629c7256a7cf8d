internal import CSQLite
internal import GRDB
package import StorageCore
package import StorageLog

extension StorageEngine {
    /// Reverts a commit by a commit of its own, which names the reverted one in its attributes.
    package func revert(
        _ number: Int64, as relation: String = UndoStack.reverts, policy: ConflictPolicy, metadata: CommitMetadata,
        isDryRun: Bool = false
    ) async throws -> RevertReport {
        let positions = try await read { db in
            let connection = try db.connection
            return try LogReader(connection).positions(ofCommit: number)
        }
        var metadata = metadata
        metadata.attributes[relation] = "\(number)"
        return try await reporting(metadata, of: number, isDryRun: isDryRun) { writer, _ in
            try Reversal(writer, policy: policy).run(positions)
        }
    }

    /// Reverts a range of commits as a whole, by one commit. Tags, notes and operations in it stay.
    ///
    /// - Parameter commits: The numbers of the first and the last commit.
    package func revert(
        _ commits: ClosedRange<Int64>, policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> RevertReport {
        if commits.count == 1 {
            return try await revert(commits.lowerBound, policy: policy, metadata: metadata, isDryRun: isDryRun)
        }
        let positions = try await read { db in
            let connection = try db.connection
            let log = LogReader(connection)
            let first = try log.positions(ofCommit: commits.lowerBound).lowerBound
            return first...(try log.positions(ofCommit: commits.upperBound).upperBound)
        }
        var metadata = metadata
        metadata.attributes[UndoStack.reverts] = "\(commits.lowerBound)..\(commits.upperBound)"
        return try await reporting(metadata, isDryRun: isDryRun) { writer, _ in
            try Reversal(writer, policy: policy, skipsAnnotations: true).run(positions)
        }
    }

    /// Reverts the newest commit that isn't undone yet.
    ///
    /// - Parameter actor: The actor of the commit; any if nil.
    package func undo(
        of actor: String?, policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> RevertReport {
        // The changes of a commit may have been reverted otherwise; then the one before it is next.
        var passed: Set<Int64> = []
        while let number = try await undoStack({ [passed] in try $0.nextUndo(by: actor, skipping: passed) }) {
            let report = try await revert(
                number, as: UndoStack.undoes, policy: policy, metadata: metadata, isDryRun: isDryRun)
            if report.outcome.count > 0 || !report.outcome.conflicts.isEmpty { return report }
            passed.insert(number)
        }
        throw StorageError(
            .notFound, "There is nothing to undo\(actor.map { " of \($0)" } ?? "").",
            remedy: "No commit that changes rows is left to undo.")
    }

    /// Reverts the newest undo, if no other change was made since.
    package func redo(
        of actor: String?, policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> RevertReport {
        guard let number = try await undoStack({ try $0.nextRedo(by: actor) }) else {
            throw StorageError(
                .notFound, "There is nothing to redo\(actor.map { " of \($0)" } ?? "").",
                remedy: "An undo can be redone only if nothing was changed after it.")
        }
        return try await revert(
            number, as: UndoStack.redoes, policy: policy, metadata: metadata, isDryRun: isDryRun)
    }

    private func undoStack(_ body: @escaping @Sendable (UndoStack) throws -> Int64?) async throws -> Int64? {
        try await read { db in
            let connection = try db.connection
            return try body(UndoStack(LogReader(connection)))
        }
    }

    /// Restores entities to what they held at a point, by a commit of its own.
    ///
    /// - Parameters:
    ///   - tables: The entities; all if empty.
    ///   - key: The only row to restore, of one entity.
    package func restore(
        _ tables: [String], key: [StorageValue]? = nil, to point: StoragePoint, upcasts: [String: Upcast] = [:],
        policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> RevertReport {
        // Past states don't change, so they needn't be read inside the commit.
        let (past, names) = try await read { db in
            let connection = try db.connection
            let position = try LogReader(connection).position(of: point)
            let past = try MaterializedSnapshot(at: position, of: db, schema: .current, upcasts: upcasts)
            let names = tables.isEmpty ? past.catalog.live.map(\.name) : tables
            for name in names where past.catalog.entity(named: name)?.isReserved == true {
                throw StorageError(
                    .invalidArgument, "\"\(name)\" is the store's own and can't be restored.",
                    remedy: "Name entities; a tag is moved by tag.")
            }
            try past.prepare(tables: names, from: db)
            return (past, names)
        }
        return try await restore(names, from: past, key: key, policy: policy, metadata: metadata, isDryRun: isDryRun)
    }

    /// Restores tables to the content of a snapshot's, by changes of their own.
    ///
    /// - Parameters:
    ///   - names: The entities, whose tables the snapshot has filled.
    ///   - past: A state in the current schema.
    ///   - remedy: What the user can do about conflicts, if the policy is to abort.
    package func restore(
        _ names: [String], from past: MaterializedSnapshot, key: [StorageValue]? = nil, policy: ConflictPolicy,
        metadata: CommitMetadata, isDryRun: Bool = false, remedy: String = StorageError.reversalRemedy
    ) async throws -> RevertReport {
        try await reporting(metadata, isDryRun: isDryRun) { writer, _ in
            let entities = names.compactMap { writer.catalog.entity(named: $0) }
            guard entities == names.compactMap({ past.catalog.entity(named: $0) }) else {
                throw StorageError(
                    .conflict, "The schema changed during the read.", remedy: "Try again.")
            }
            return try Restoration(writer, from: past, policy: policy, remedy: remedy).run(entities, key: key)
        }
    }

    /// Runs a commit and returns a report of it.
    private func reporting(
        _ metadata: CommitMetadata, of revertedCommit: Int64? = nil, isDryRun: Bool,
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> RevertOutcome
    ) async throws -> RevertReport {
        let limit = RevertOutcome.conflictLimit
        let (found, receipt) = try await commit(
            metadata, isDryRun: isDryRun, keeps: { (outcome: RevertOutcome, _: [RowDifference]) in outcome.count > 0 }
        ) { writer, db in
            // The effects of triggers are in the log beside their causes, and are reverted with them.
            writer.database.setTriggersEnabled(false)
            defer { writer.database.setTriggersEnabled(true) }
            let start = writer.pendingEvents
            var outcome = try body(writer, db)
            let changes = PendingChanges(writer, from: start, limit: isDryRun ? limit : 0)
            (outcome.inserted, outcome.updated, outcome.deleted) = (changes.inserted, changes.updated, changes.deleted)
            return (outcome, changes.first)
        }
        return RevertReport(
            outcome: found?.0 ?? RevertOutcome(), revertedCommit: revertedCommit,
            receipt: receipt.flatMap { $0.commit == nil ? nil : $0 }, plan: found?.1 ?? [])
    }
}

extension LogReader {
    /// The positions of a commit's events.
    package func positions(ofCommit number: Int64) throws -> ClosedRange<Int64> {
        let last = try position(of: .commit(number))
        let first = try position(of: .commit(number - 1)) + 1
        guard number >= 1, first <= last else {
            throw StorageError(.notFound, "There is no commit \(number).", remedy: "The first commit is 1.")
        }
        return first...last
    }
}
