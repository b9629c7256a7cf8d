internal import CSQLite
internal import Foundation
package import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// The projections of users on the writer: it makes their tables, lets them take in commits and batches, and keeps how far
/// each has come.
///
/// Isolation: used on the writer's queue only.
package final class UserProjections: InlineProjection {
    /// What one projection is to the writer.
    package final class Slot {
        let registration: ProjectionRegistration
        /// Whether it takes in commits as they are made.
        package var isInStep = false
        /// Whether rows of it may wait among the dead letters.
        package var hasDeadLetters = false
        /// The entities that it reads, as long as the catalog stays what it is.
        var wanted: Set<UInt32>?
        /// Rows that were found on the way, while much of the log lies before it.
        var cache: RowStateCache?

        init(_ registration: ProjectionRegistration) { self.registration = registration }

        var name: String { registration.name }
        var projection: any Projection { registration.projection }
    }

    /// Events that an inline projection wants to react to, once their commit is durable.
    struct Reaction {
        let name: String
        let commit: Int64
        let events: [StorageEvent]
    }

    var slots: [Slot] = []
    var database: GRDB.Database?
    var reactions: [Reaction] = []
    var upcasts: [String: Upcast] = [:]
    /// Told after each transaction: the head, and what inline projections want to react to.
    var onCommit: ((Int64, [(name: String, events: [StorageEvent])]) -> Void)?

    package init() {}

    /// The connection that projections are given; the writer's own, so it is here as long as anybody calls.
    func connection() throws -> GRDB.Database {
        guard let database else { throw StorageError.closed() }
        return database
    }

    func slot(_ name: String) -> Slot? { slots.first { $0.name == name } }

    package func reload(from writer: LogWriter) throws { forgetCatalog() }

    package func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws { forgetCatalog() }

    func forgetCatalog() { for slot in slots { slot.wanted = nil } }

    func wanted(_ slot: Slot, _ catalog: Catalog) -> Set<UInt32> {
        if let known = slot.wanted { return known }
        let wanted = catalog.entities(named: slot.projection.entities)
        slot.wanted = wanted
        return wanted
    }
}

/// What can be asked of a projection without knowing its rules.
package enum ProjectionInstruction: Sendable {
    case pause, resume, reset
}

extension UserProjections {
    /// Changes what the store remembers of a projection that isn't registered here, in one transaction.
    ///
    /// A reset only marks it as one of no version, so that the program that knows its rules makes it anew.
    ///
    /// - Parameter operation: What is recorded where something changes, and who does it; nil where the caller records.
    /// - Returns: Whether anything is another now.
    @discardableResult
    package func instruct(
        _ name: String, _ instruction: ProjectionInstruction,
        recording operation: (StorageOperation, CommitMetadata)?, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> Bool {
        try writer.group(db) {
            guard var checkpoint = try Checkpoint.load(name, writer.database) else {
                throw StorageError.noProjection(name)
            }
            let before = checkpoint
            switch instruction {
            case .pause: if checkpoint.state == .running { checkpoint.state = .paused }
            case .resume, .reset: checkpoint.resume()
            }
            var isChanged = checkpoint != before
            if isChanged { try checkpoint.save(name, writer) }
            if instruction == .reset {
                let update = try writer.statement(
                    "UPDATE storage_projection SET version = 0 WHERE name = ?1 AND version <> 0")
                update.bind(text: name, at: 1)
                try writer.asEngine { try update.execute() }
                isChanged = isChanged || update.changes > 0
            }
            guard isChanged else { return false }
            if let (operation, metadata) = operation { try writer.record(operation, metadata: metadata) }
            return true
        }
    }
}
