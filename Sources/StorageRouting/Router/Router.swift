package import StorageCore
internal import StorageLog

/// Finds the subscriptions that a change affects: among 100,000 it finds the few whose condition a changed row meets or
/// met, in time that doesn't grow with the others.
///
/// ```swift
/// let router = Router()
/// router.add(layout)
/// let token = try router.register(
///     layout.entity, where: predicate, affecting: layout.mask(of: ["status", "total"]))
/// router.fill(changes) { $0.add(view, 0..<view.count, first: position) }
/// for routed in router.route(changes, rows: rows) { … }
/// ```
///
/// It may report a subscription that isn't affected, and never omits one that is: an unavailable value, an unknown column,
/// or SQL that only the database can evaluate results in ``SubscriptionEffect/uncertain``.
///
/// Isolation: not `Sendable`. It belongs to the follower of the log; an engine's belongs to its ``CommitFilter``, whose
/// lock guards all access to it.
package final class Router {
    private var indexes: [UInt32: PredicateIndex] = [:]
    private var results: [RoutedChange] = []
    /// The number of all registrations so far: tokens are unique, even if an entity was forgotten in between.
    private var registrations: UInt32 = 0
    /// The layouts of entities with subscriptions; nil if they have to be computed.
    private var subscribed: [RowLayout]?
    package private(set) var counters = RouterCounters()

    package init() {}

    /// How many subscriptions there are.
    package var count: Int { indexes.values.reduce(0) { $0 + $1.count } }

    /// The entities with subscriptions.
    package var entities: Set<UInt32> { Set(indexes.values.filter { $0.count > 0 }.map(\.layout.entity)) }

    /// Whether nothing is left of subscriptions that are gone.
    package var isEmpty: Bool { indexes.values.allSatisfy(\.isEmpty) }

    /// How many buckets of conditions were divided by a second anchor.
    package var splitCount: Int { indexes.values.reduce(0) { $0 + $1.splitCount } }
}

// MARK: Subscriptions

extension Router {
    /// Makes an entity known. One that is known already stays as it is.
    package func add(_ layout: RowLayout) {
        if indexes[layout.entity] == nil { indexes[layout.entity] = PredicateIndex(layout) }
    }

    /// The layout of an entity's rows; nil if the entity is unknown.
    package func layout(of entity: UInt32) -> RowLayout? { indexes[entity]?.layout }

    /// Removes an entity whose columns have changed, with all its subscriptions.
    package func forget(_ entity: UInt32) {
        indexes[entity] = nil
        subscribed = nil
    }

    /// Removes entities without subscriptions, because their columns may have changed.
    package func forgetUnused() {
        indexes = indexes.filter { $0.value.count > 0 }
        subscribed = nil
    }

    /// - Parameters:
    ///   - entity: One that was added.
    ///   - expression: The full-text query that the row's texts must match too, if the entity has a full-text index.
    ///   - column: A column in which a row must have one of the values set by ``change(_:adding:removing:)``, initially
    ///     none. Nil if any row may matter.
    ///   - affecting: The columns that the subscriber depends on besides those of the predicate: shown, sorted or grouped
    ///     by, aggregated. A row that stays is reported only if one of them has changed.
    /// - Throws: `invalid-name` for an unknown column, `invalid-argument` for an unknown entity.
    package func register(
        _ entity: UInt32, where predicate: RowPredicate, matching expression: SearchExpression? = nil,
        valuesOf column: String? = nil, affecting: ColumnMask
    ) throws -> SubscriptionToken {
        guard let index = indexes[entity] else {
            throw StorageError(
                .invalidArgument, "Entity \(entity) isn't known to the router.", remedy: "Add its layout first.")
        }
        subscribed = nil
        registrations &+= 1
        return try index.register(
            predicate, matching: expression, valuesOf: column, affecting: affecting, generation: registrations)
    }

    /// Adds and removes values of the column that a subscription was registered with. Does nothing for a removed
    /// subscription.
    ///
    /// Each value must be removed as often as it was added.
    ///
    /// - Complexity: O(values that are added or removed), however many there are.
    package func change(
        _ token: SubscriptionToken, adding added: [StorageValue], removing removed: [StorageValue]
    ) {
        indexes[token.entity]?.change(token, adding: added, removing: removed)
    }

    /// Does nothing for a subscription that is gone.
    package func remove(_ token: SubscriptionToken) {
        subscribed = nil
        indexes[token.entity]?.remove(token)
    }

    /// Nil for a subscription that is gone.
    package func explain(_ token: SubscriptionToken) -> SubscriptionExplanation.Table? {
        indexes[token.entity]?.explain(token)
    }
}

// MARK: Changes

extension Router {
    /// Empties `changes`, calls `body` to add events, and folds those of entities with subscriptions.
    package func fill(_ changes: ChangeFold, _ body: (ChangeFold) throws -> Void) rethrows {
        empty(changes)
        try body(changes)
        changes.finish()
    }

    /// Empties `changes` and prepares it for events of entities with subscriptions.
    package func empty(_ changes: ChangeFold) {
        changes.removeAll()
        let layouts = subscribed ?? indexes.values.filter { $0.count > 0 }.map(\.layout)
        subscribed = layouts
        changes.use(layouts)
    }

    /// Returns the subscriptions that the changes affect, in the order of the changes.
    ///
    /// - Parameter rows: Reads columns that updates didn't change, at most once for each change. Its rows must be as the
    ///   changes left them; if one isn't, every subscription of the entity is affected.
    package func route(_ changes: ChangeFold, rows: CurrentRows?) -> [RoutedChange] {
        results.removeAll(keepingCapacity: true)
        for (changeIndex, change) in changes.changes.enumerated() {
            indexes[change.entity]?.route(changeIndex, of: changes, rows: rows, counters: &counters, into: &results)
        }
        return results
    }

    /// Adds the subscriptions that the changes affect to those already noted: for changes that are too many to be reported
    /// one by one.
    ///
    /// - Parameter rows: As for ``route(_:rows:)``; if its rows have changed since, more subscriptions are noted than
    ///   necessary.
    package func note(_ changes: ChangeFold, rows: CurrentRows?, _ concerned: inout AffectedSubscriptions) {
        for (changeIndex, change) in changes.changes.enumerated() where !concerned.entities.contains(change.entity) {
            guard let index = indexes[change.entity] else { continue }
            results.removeAll(keepingCapacity: true)
            let isAll = index.note(
                changeIndex, of: changes, rows: rows, counters: &counters,
                noted: &concerned.nodes[change.entity, default: []], into: &results)
            if isAll { concerned.entities.insert(change.entity) }
            for routed in results { concerned.tokens.insert(routed.token) }
        }
    }

    /// Whether the changes may affect any subscription. A quick check that isn't counted and may return true needlessly.
    func mayConcern(_ changes: ChangeFold) -> Bool {
        changes.changes.indices.contains { changeIndex in
            indexes[changes.changes[changeIndex].entity]?.mayConcern(changeIndex, of: changes) ?? true
        }
    }

    /// Whether an entity has subscriptions.
    func hasSubscriptions(to entity: UInt32) -> Bool { indexes[entity].map { $0.count > 0 } ?? false }

    /// The columns, by their ids, that conditions of subscriptions look at, or have looked at before.
    package var columnsOfConditions: Set<UInt32> {
        Set(indexes.values.lazy.filter { $0.count > 0 }.flatMap(\.columnsOfConditions))
    }
}
