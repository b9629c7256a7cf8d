internal import CSQLite
internal import StorageCore
package import StorageLog

/// Finds the commits to undo or redo next. The log itself is the stack: a commit that undoes or redoes another names it in its
/// attributes.
package struct UndoStack {
    package static let undoes = "storagekit.undoes"
    package static let redoes = "storagekit.redoes"
    package static let reverts = "storagekit.reverts"
    /// Marks a commit that records rows from before the history began.
    package static let adopts = "storagekit.adopted"

    /// A commit that was found, and the log's last position at that time.
    package struct Choice: Sendable {
        package let commit: Int64
        package let position: Int64
    }

    private let log: LogReader

    package init(_ log: LogReader) { self.log = log }

    /// The newest commits that change rows and aren't undone yet, newest first.
    ///
    /// - Parameters:
    ///   - actor: The actor of the commits; any if nil.
    ///   - skipped: Commits that have nothing left to revert.
    ///   - limit: How many to find at most.
    ///   - earlier: An earlier answer, so that only later commits are visited: it is returned if it is still the
    ///     answer.
    package func nextUndos(
        by actor: String?, skipping skipped: Set<Int64> = [], limit: Int = 1, since earlier: Choice? = nil
    ) throws -> [Int64] {
        var settled: Set<Int64> = []
        var found: [Int64] = []
        try forEachCommit(since: earlier) { commit in
            if settled.contains(commit.number) { return true }
            if let undone = Self.number(commit, Self.undoes) {
                settled.insert(undone)
                return true
            }
            // The changes that a redo restored are undone by undoing the redo.
            if let redone = Self.number(commit, Self.redoes) { settled.insert(redone) }
            if skipped.contains(commit.number) { return true }
            if try isOf(actor, commit) { found.append(commit.number) }
            return found.count < limit
        }
        if found.isEmpty, let earlier, !settled.contains(earlier.commit) { return [earlier.commit] }
        return found
    }

    /// Whether an actor made the changes of a commit. An undo or a redo counts as by the actor of the commit that it refers to,
    /// regardless of who ran it.
    private func isOf(_ actor: String?, _ commit: CommitInfo) throws -> Bool {
        guard let actor else { return true }
        guard let number = Self.number(commit, Self.undoes) ?? Self.number(commit, Self.redoes) else {
            return commit.metadata.actor == actor
        }
        let position = try log.position(of: .commit(number))
        guard number < commit.number, let batch = try log.batch(containing: position) else {
            throw StorageError.corruptLog("commit \(commit.number) reverts commit \(number), which isn't before it")
        }
        return try isOf(actor, batch.commit(ofEvent: Int(position - batch.header.first)))
    }

    /// The newest commit that undid another and wasn't redone yet; nil if another change was made since.
    ///
    /// - Parameter earlier: As for ``nextUndos(by:skipping:limit:since:)``.
    package func nextRedo(by actor: String?, since earlier: Choice? = nil) throws -> Int64? {
        var settled: Set<Int64> = []
        var isOver = false
        var found: Int64?
        try forEachCommit(since: earlier) { commit in
            if settled.contains(commit.number) { return true }
            if let redone = Self.number(commit, Self.redoes) {
                settled.insert(redone)
                return true
            }
            guard try isOf(actor, commit) else { return true }
            if Self.number(commit, Self.undoes) != nil { found = commit.number } else { isOver = true }
            return false
        }
        if found == nil, !isOver, let earlier, !settled.contains(earlier.commit) { return earlier.commit }
        return found
    }

    /// Whether a commit can't be undone: the rows that a migration or a conversion has written belong to the schema, which stays,
    /// and rows from before a table's history weren't changed in it.
    private static func isOfTheSchema(_ commit: CommitInfo) -> Bool {
        commit.metadata.idempotencyKey?.hasPrefix(SchemaStep.keyPrefix) ?? false
            || commit.metadata.attributes[adopts] != nil
    }

    private static func number(_ commit: CommitInfo, _ name: String) -> Int64? {
        commit.metadata.attributes[name].flatMap { Int64($0) }
    }

    /// Visits the commits that change rows, newest first.
    ///
    /// - Parameter body: Returns whether to continue.
    private func forEachCommit(since earlier: Choice?, _ body: (CommitInfo) throws -> Bool) throws {
        let (head, start) = (try log.head().position, earlier?.position ?? 0)
        guard head > start else { return }
        var last: Int64?
        try log.forEachBatch(in: start + 1...head, descending: true) { batch in
            for part in batch.commits.reversed() where part.info.number != last {
                let changesRows = batch.withView { view in
                    part.events.contains { !CatalogEntity.isReserved(view.shape(of: $0).entity) }
                }
                guard changesRows, !Self.isOfTheSchema(part.info) else { continue }
                last = part.info.number
                guard try body(part.info) else { return false }
            }
            return true
        }
    }
}
