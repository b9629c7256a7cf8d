internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageHistory
package import StorageLog
internal import StorageProjections

/// Creates a new store whose log ends at a point of an old one's: the log up to that point unchanged, and all derived
/// state as it was then.
///
/// Isolation: `Sendable`; it works on the thread that calls.
package struct PointRestore: Sendable {
    package struct Outcome: Sendable {
        /// The last position, commit and time that the new store holds.
        package var head = LogHead()
        /// How many events and commits behind the point are left out.
        package var leftEvents: Int64 = 0
        package var leftCommits: Int64 = 0
        /// Whether the point was inside its commit, which is restored as a whole.
        package var wasInsideCommit = false
        package var tables: [String] = []
        /// Rows by table.
        package var rows: [String: Int64] = [:]
        /// Projections of programs, which their programs make again when they open the store.
        package var projections: [String] = []
        /// The commit after the restored ones that records who restored them.
        package var recorded: Int64?
        /// What shows that the source's log has lost its end; nil if nothing does.
        package var loss: String?
    }

    package let source: String
    private let acceptsLoss: Bool
    private let progress: @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void

    /// - Parameter acceptsLoss: Whether a log that has lost its end may be restored: the point was named as one that it still has.
    package init(
        _ source: String, acceptsLoss: Bool = false,
        progress: @escaping @Sendable (String, Int, Int) -> Void = { _, _, _ in }
    ) {
        self.source = source
        self.acceptsLoss = acceptsLoss
        self.progress = progress
    }

    /// What would be made for a position; reads the log up to there.
    ///
    /// - Throws: `corrupt` if the log has a gap before that, or has lost its end without this being accepted.
    package func plan(_ position: Int64) throws -> Outcome {
        try withSource { database, end in
            let loss = try checkLog(upTo: position, database, end)
            var outcome = try plan(position, database)
            outcome.loss = loss
            outcome.rows = try rows(at: outcome.head.position, database)
            return outcome
        }
    }

    /// Calls `body` with the source in one state, also if it is written to.
    private func withSource<Result>(_ body: (Connection, AcknowledgedEnd) throws -> Result) throws -> Result {
        let file = try DatabaseFile(source, .reading)
        let end = AcknowledgedEnd(store: file.path)
        return try file.with { database in
            // The transaction begins with the first read; without it, each commit of others would restart a copy.
            try database.execute("BEGIN")
            _ = try LogHead.load(database)
            return try body(database, end)
        }
    }

    /// Checks that the log has everything up to a position, and was complete when it was written.
    ///
    /// - Returns: What shows that it has lost its end; nil if nothing does.
    private func checkLog(upTo position: Int64, _ database: Connection, _ end: AcknowledgedEnd) throws -> String? {
        let reader = LogReader(database)
        if let gap = try LogCompleteness.gap(in: database), gap.expected <= position {
            throw lost(
                "The log of \(source) is incomplete: it has a gap at @\(gap.expected) and continues at @\(gap.found).",
                leaving: try wholeEnd(gap.expected - 1, reader))
        }
        let restored = try reader.lastPosition(ofCommitAt: position)
        let whole = try wholeEnd(restored, reader)
        guard whole == restored else {
            throw lost("The log of \(source) is incomplete: the commit at @\(restored) isn't finished.", leaving: whole)
        }
        let head = try LogHead.load(database).position
        var loss = try end.losses(head: head).first(where: \.isDamage)?.message
        if loss == nil, let problem = try LogEndCheck.lostEnd(in: database) {
            loss = "The log of \(source) may have lost its end: \(problem)."
        }
        guard let loss else { return nil }
        do {
            _ = try Catalog.load(database, at: position)
        } catch let error as StorageError where error.code == .corrupt {
            throw StorageError(
                .corrupt, loss,
                remedy:
                    "No point can be restored, because changes of the schema are lost. Restore another backup: storagekit restore BACKUP -o NEW. Keep this file: storagekit sql still reads its tables.",
                cause: error)
        }
        guard acceptsLoss else { throw lost(loss, leaving: try wholeEnd(head, reader)) }
        return loss
    }

    /// The end of the last commit that the log has to its end, up to a position at which a commit or a segment ends.
    private func wholeEnd(_ position: Int64, _ reader: LogReader) throws -> Int64 {
        guard position > 0, let batch = try reader.batch(containing: position), position == batch.header.last,
            batch.endsInsideCommit
        else { return position }
        let last = batch.header.lastCommit - 1
        return last > 0 ? try reader.position(of: .commit(last)) : 0
    }

    private func lost(_ problem: String, leaving position: Int64) -> StorageError {
        StorageError(
            .corrupt, problem,
            remedy:
                "Keep this file: its tables may have rows that the log has lost. Restore another backup, or what this log still has: storagekit restore \(source.quotedAsShellWord) --to @\(position) -o NEW"
        )
    }

    /// How many rows each table held: what was inserted without what was deleted.
    ///
    /// A row that another program had deleted, without an event, counts again when it is inserted again.
    private func rows(at position: Int64, _ database: Connection) throws -> [String: Int64] {
        var counts: [UInt32: Int64] = [:]
        if position > 0 {
            try LogReader(database).forEachBatch(in: 1...position) { batch in
                batch.withView { view in
                    for index in 0..<Int(min(Int64(view.count), position - batch.header.first + 1)) {
                        let shape = view.shape(of: index)
                        if shape.isInsert { counts[shape.entity, default: 0] += 1 }
                        if shape.isDelete { counts[shape.entity, default: 0] -= 1 }
                    }
                }
                progress("count", Int(min(batch.header.last, position)), Int(position))
                return true
            }
        }
        let entities = try Catalog.load(database, at: position).live
        return Dictionary(uniqueKeysWithValues: entities.map { ($0.name, counts[$0.id] ?? 0) })
    }

    private func plan(_ position: Int64, _ database: Connection) throws -> Outcome {
        let reader = LogReader(database)
        let now = try reader.head()
        let last = try reader.lastPosition(ofCommitAt: position)
        var outcome = Outcome()
        outcome.wasInsideCommit = last != position
        if last > 0, let batch = try reader.batch(containing: last) {
            let commit = batch.commit(ofEvent: Int(last - batch.header.first))
            outcome.head = LogHead(position: last, commit: commit.number, time: commit.time)
        }
        outcome.leftEvents = now.position - last
        outcome.leftCommits = now.commit - outcome.head.commit
        outcome.tables = try Catalog.load(database, at: last).live.map(\.name).sorted()
        outcome.projections = try StoredProjection.all(in: database).map(\.name)
        return outcome
    }

    /// Creates the new store.
    ///
    /// - Parameter operation: The operation that is recorded in it, as its last commit, with its metadata.
    package func run(
        _ position: Int64, to path: String, replacing: Bool,
        recording operation: (operation: StorageOperation, metadata: CommitMetadata)
    ) async throws -> Outcome {
        try FilePlacement.check(path, isNot: source)
        let placement = try FilePlacement(path, replacing: replacing, like: source)
        do {
            var outcome = try make(position, at: placement.partial)
            outcome.recorded = try await Self.record(operation, in: placement.partial)
            let finding = try StoreBackup.firstFinding(in: placement.partial) { progress("verify", $0, $1) }
            if let finding { throw try refusal(of: finding, outcome) }
            try placement.place()
            return outcome
        } catch {
            placement.discard()
            throw error
        }
    }

    /// The reason why a new store isn't sound: either the source is damaged, or no store can hold the state at the point.
    private func refusal(of finding: VerifyReport.Finding, _ outcome: Outcome) throws -> StorageError {
        try withSource { database, _ in
            let isOfThePoint =
                try finding.isInvalidReference && outcome.leftCommits > 0
                && !ForeignKeyCheck(database).broken.contains { $0.table == finding.table }
            guard isOfThePoint else {
                return StorageError(
                    .corrupt, "The restored store isn't sound: \(finding)",
                    remedy: "The backup is damaged. Type: storagekit verify -s \(source.quotedAsShellWord)")
            }
            return try refusal(
                outcome, because: "rows of \"\(finding.table ?? "")\" would refer to rows that came later", database)
        }
    }

    /// An error for a point whose state a store can't hold.
    private func refusal(_ outcome: Outcome, because reason: String, _ source: Connection) throws -> StorageError {
        let index = try LogIndex(LogReader(source))
        func isAdoption(_ number: Int64) throws -> Bool {
            try index.commit(number)?.info.metadata.attributes[UndoStack.adopts] != nil
        }
        var end = outcome.head.commit
        while try isAdoption(end + 1) { end += 1 }
        let path = self.source.quotedAsShellWord
        return StorageError(
            .conflict, "The state at @\(outcome.head.position) can't be restored: \(reason).",
            remedy: end > outcome.head.commit
                ? "Choose a later point, perhaps the end of the adoption: storagekit restore \(path) --to t:\(end) -o NEW"
                : "Choose a later point. The commits: storagekit log -s \(path)")
    }

    private func make(_ position: Int64, at path: String) throws -> Outcome {
        let loss = try withSource { source, end in
            let loss = try checkLog(upTo: position, source, end)
            try DatabaseFile(path, .making).with {
                try DatabaseFile.copy(source, into: $0) { progress("copy", $0, $1) }
            }
            return loss
        }
        return try DatabaseFile(path, .making).with { database in
            var outcome = try plan(position, database)
            let known = try MissingParent.all(in: database)
            let truncation = StoreTruncation(database, to: outcome.head.position) { progress("rebuild", $0, $1) }
            outcome.rows = try truncation.run()
            outcome.loss = loss
            let dropped = try Catalog.load(database).entities.filter(\.isDropped).map(\.stored.folded)
            let missing = try MissingParent.all(in: database).subtracting(known).filter {
                // Then it is the state of the point.
                !dropped.contains($0.parent.folded)
            }
            if let missing = missing.min(by: { ($0.table, $0.parent) < ($1.table, $1.parent) }) {
                throw try withSource { source, _ in
                    try refusal(
                        outcome,
                        because:
                            "\"\(missing.table)\" would refer to the table \"\(missing.parent)\", which isn't recorded at that point",
                        source)
                }
            }
            return outcome
        }
    }

    private static func record(
        _ operation: (operation: StorageOperation, metadata: CommitMetadata), in path: String
    ) async throws -> Int64? {
        var configuration = StorageConfig()
        // No user depends on the file before it gets its name, and segments must keep their bytes.
        configuration.durability = .normal
        configuration.sealsInBackground = false
        let engine = try StorageEngine.openStore(path: path, configuration: configuration)
        do {
            let receipt = try await engine.record(operation.operation, metadata: operation.metadata)
            try await engine.close(leavingNoLog: true)
            return receipt.commit
        } catch {
            // The file is thrown away, so why closing fails as well doesn't matter.
            try? await engine.close()
            throw error
        }
    }
}
