internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// The user-defined projections on the writer: creates their tables, applies commits and batches, and stores their
/// progress.
///
/// Isolation: used on the writer's queue only.
package final class UserProjections: InlineProjection {
    /// The writer's state of one projection.
    package final class Slot {
        let registration: ProjectionRegistration
        /// Whether it is called for what is committed.
        let hasSideEffects: Bool
        /// Whether it applies commits as they are made.
        package var isInStep = false
        /// Whether rows of it may wait among the dead letters.
        package var hasDeadLetters = false
        /// The entities that it reads; nil after the catalog has changed.
        var wanted: Set<UInt32>?
        /// A cache of rows, while much of the log is left to apply.
        var cache: RowStateCache?

        init(_ registration: ProjectionRegistration) {
            self.registration = registration
            hasSideEffects = registration.projection is any SideEffectingProjection
        }

        var name: String { registration.name }
        var projection: any Projection { registration.projection }
    }

    /// Events that an inline projection wants to react to, once their commit is durable.
    struct Reaction {
        let name: String
        let commit: Int64
        let ranges: [AppliedRange]
    }

    var slots: [Slot] = []
    package var maySetSavepoints: Bool { !slots.isEmpty }
    var database: GRDB.Database?
    var reactions: [Reaction] = []
    var upcasts: [String: Upcast] = [:]
    /// Called after each transaction with the head, and the events that inline projections react to.
    var onCommit: ((Int64, [(name: String, ranges: [AppliedRange])]) -> Void)?

    package init() {}

    /// The connection passed to projections: the writer's own, so that it exists during every call.
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
