internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// Makes a new store whose log ends at a point of an old one's: the log's beginning as it is, and everything that is made
/// from it as it was then.
///
/// Isolation: `Sendable`; it works on the thread that calls.
package struct PointRestore: Sendable {
    package struct Outcome: Sendable {
        /// The last position, commit and time that the new store holds.
        package var head = LogHead()
        /// How many events and commits behind the point are left out.
        package var leftEvents: Int64 = 0
        package var leftCommits: Int64 = 0
        /// Whether the point lay inside its commit, which is restored as a whole.
        package var wasInsideCommit = false
        package var tables: [String] = []
        /// Rows by table; empty where nothing was made.
        package var rows: [String: Int64] = [:]
        /// Projections of programs, which their programs make again when they open the store.
        package var projections: [String] = []
    }

    package let source: String
    private let progress: @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void

    package init(
        _ source: String, progress: @escaping @Sendable (String, Int, Int) -> Void = { _, _, _ in }
    ) {
        self.source = source
        self.progress = progress
    }

    /// What would be made for a position.
    package func plan(_ position: Int64) throws -> Outcome {
        try DatabaseFile(source, .reading).with { try plan(position, $0) }
    }

    private func plan(_ position: Int64, _ database: OpaquePointer) throws -> Outcome {
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
        outcome.projections = try ProjectionTables.load(database).map(\.name)
        return outcome
    }

    /// Makes the new store.
    package func run(_ position: Int64, to path: String, replacing: Bool) throws -> Outcome {
        let placement = try FilePlacement(path, replacing: replacing)
        do {
            try DatabaseFile(source, .reading).with { source in
                try DatabaseFile(placement.partial, .making).with {
                    try DatabaseFile.copy(source, into: $0) { progress("copy", $0, $1) }
                }
            }
            let outcome = try DatabaseFile(placement.partial, .making).with { database in
                var outcome = try plan(position, database)
                let truncation = StoreTruncation(database, to: outcome.head.position) { progress("rebuild", $0, $1) }
                outcome.rows = try truncation.run()
                return outcome
            }
            try StoreBackup.verify(placement.partial) { progress("verify", $0, $1) }
            try placement.place()
            return outcome
        } catch {
            placement.discard()
            throw error
        }
    }
}
