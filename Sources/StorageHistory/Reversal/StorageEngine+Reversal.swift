internal import CSQLite
package import GRDB
package import StorageCore
package import StorageLog

extension StorageEngine {
    /// Reverts a commit by a commit of its own, which names the reverted one in its attributes.
    ///
    /// - Parameter check: Called first inside the commit; an error refuses it.
    package func revert(
        _ number: Int64, as relation: String = UndoStack.reverts, policy: ConflictPolicy, metadata: CommitMetadata,
        isDryRun: Bool = false, check: @escaping @Sendable (LogWriter) throws -> Void = { _ in }
    ) async throws -> RevertReport {
        let positions = try await read { db in
            let connection = try db.connection
            return try LogReader(connection).positions(ofCommit: number)
        }
        var metadata = metadata
        metadata.attributes[relation] = "\(number)"
        return try await reporting(metadata, of: number, isDryRun: isDryRun) { writer, _ in
            try check(writer)
            return try Reversal(writer, policy: policy).run(positions)
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
        // The changes of a commit may have been reverted otherwise; then the one before it is next. Each time as many are looked
        // for as had nothing left, so that the log is read from its end only a few times.
        let report = try await revertChoice(
            as: UndoStack.undoes, policy: policy, metadata: metadata, isDryRun: isDryRun, skipsEmpty: true
        ) { try $0.nextUndos(by: actor, skipping: $1, limit: $1.count + 1, since: $2) }
        if let report { return report }
        throw StorageError(
            .notFound, "There is nothing to undo\(actor.map { " of \($0)" } ?? "").",
            remedy: "No commit that changes rows is left to undo.")
    }

    /// Reverts the newest undo, if no other change was made since.
    package func redo(
        of actor: String?, policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool = false
    ) async throws -> RevertReport {
        let report = try await revertChoice(
            as: UndoStack.redoes, policy: policy, metadata: metadata, isDryRun: isDryRun, skipsEmpty: false
        ) { stack, _, earlier in try stack.nextRedo(by: actor, since: earlier).map { [$0] } ?? [] }
        guard let report else {
            throw StorageError(
                .notFound, "There is nothing to redo\(actor.map { " of \($0)" } ?? "").",
                remedy: "An undo can be redone only if nothing was changed after it.")
        }
        return report
    }

    /// Reverts the commit that the log makes the next one. What is committed between the choice and the revert may make
    /// it another one, or none: then it is chosen again.
    ///
    /// - Parameters:
    ///   - skipsEmpty: Whether commits that have nothing left to revert are skipped.
    ///   - choose: Chooses commits, besides those that were skipped, the next one first; or checks an earlier choice.
    /// - Returns: Nil if there is none.
    private func revertChoice(
        as relation: String, policy: ConflictPolicy, metadata: CommitMetadata, isDryRun: Bool, skipsEmpty: Bool,
        _ choose: @escaping @Sendable (UndoStack, _ skipped: Set<Int64>, UndoStack.Choice?) throws -> [Int64]
    ) async throws -> RevertReport? {
        var skipped: Set<Int64> = []
        var outdated = 0
        while outdated < Self.maximumChoices {
            let choices = try await read { [skipped] db in
                let log = LogReader(try db.connection)
                let position = try log.head().position
                return try choose(UndoStack(log), skipped, nil).map {
                    UndoStack.Choice(commit: $0, position: position)
                }
            }
            guard !choices.isEmpty else { return nil }
            do {
                for choice in choices {
                    let report = try await revert(
                        choice.commit, as: relation, policy: policy, metadata: metadata, isDryRun: isDryRun
                    ) { [skipped] writer in
                        guard writer.nextPosition > choice.position + 1 else { return }
                        try writer.requireWholeLog()
                        let next = try choose(UndoStack(LogReader(writer.database)), skipped, choice).first
                        guard next == choice.commit else { throw OutdatedChoice() }
                    }
                    let isEmpty = report.outcome.count == 0 && report.outcome.conflicts.isEmpty
                    guard skipsEmpty, isEmpty else { return report }
                    skipped.insert(choice.commit)
                    outdated = 0
                }
            } catch is OutdatedChoice {
                outdated += 1
            }
        }
        throw StorageError(
            .conflict, "Other changes came first, \(Self.maximumChoices) times in a row.",
            remedy: "Try again, or revert a commit by its number.")
    }

    /// How often a commit is chosen before a store that others change all the time is given up.
    private static var maximumChoices: Int { 10 }

    /// Restores entities to what they held at a point, by a commit of its own.
    ///
    /// - Parameters:
    ///   - tables: The entities; all if empty. Only entities that exist can be restored; the report names those of the point that
    ///     were dropped since.
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
        var report = try await restore(
            names, from: past, key: key, policy: policy, metadata: metadata, isDryRun: isDryRun)
        if tables.isEmpty {
            let existing = Set(past.catalog.live.map(\.id))
            report.droppedTables = past.recordedCatalog.live.filter { !existing.contains($0.id) }.map(\.name).sorted()
        }
        return report
    }

    /// Restores tables to the content of a snapshot's, by changes of their own.
    ///
    /// - Parameters:
    ///   - names: The entities, whose tables the snapshot has filled.
    ///   - past: A state in the current schema.
    ///   - remedy: What the user can do about conflicts, if the policy is to abort.
    ///   - prepare: Runs first in the commit, and is undone with it. Triggers are off. Returns the entities whose missing rows get
    ///     the rowids that they have in the snapshot.
    package func restore(
        _ names: [String], from past: MaterializedSnapshot, key: [StorageValue]? = nil, policy: ConflictPolicy,
        metadata: CommitMetadata, isDryRun: Bool = false, remedy: String = StorageError.reversalRemedy,
        prepare: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Set<UInt32> = { _, _ in [] }
    ) async throws -> RevertReport {
        try await reporting(metadata, isDryRun: isDryRun) { writer, db in
            let entities = names.compactMap { writer.catalog.entity(named: $0) }
            guard entities == names.compactMap({ past.catalog.entity(named: $0) }) else {
                throw StorageError(
                    .conflict, "The schema changed during the read.", remedy: "Try again.")
            }
            let numbered = try prepare(writer, db)
            return try Restoration(writer, from: past, policy: policy, keepingRowidsOf: numbered, remedy: remedy)
                .run(entities, key: key)
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

/// The commit that was to be reverted isn't the next one any more.
private struct OutdatedChoice: Error {}

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
