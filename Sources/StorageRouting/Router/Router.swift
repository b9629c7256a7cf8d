package import StorageCore
internal import StorageLog

/// Knows who is concerned by a change: among 100,000 subscriptions it finds the few whose condition a changed row meets
/// or met, in time that doesn't grow with the others.
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
/// It may say that a subscription is concerned where it isn't, and never keeps silent where it is: a value that can't be
/// had, a column that isn't known, SQL that only the database can answer, all come out as
/// ``SubscriptionEffect/uncertain``.
///
/// Isolation: not `Sendable`. It belongs to whoever follows the log; an engine's belongs to its ``CommitFilter``, whose lock
/// guards what is done with it as a whole.
package final class Router {
    private var indexes: [UInt32: PredicateIndex] = [:]
    private var results: [RoutedChange] = []
    /// How many subscriptions there have ever been: no two have the same token, also when an entity was forgotten between them.
    private var registrations: UInt32 = 0
    /// The layouts of entities that somebody has subscribed to; nil where that is to be found out.
    private var subscribed: [RowLayout]?
    package private(set) var counters = RouterCounters()

    package init() {}

    /// How many subscriptions there are.
    package var count: Int { indexes.values.reduce(0) { $0 + $1.count } }

    /// Entities that somebody has subscribed to.
    package var entities: Set<UInt32> { Set(indexes.values.filter { $0.count > 0 }.map(\.layout.entity)) }

    /// Whether nothing is left of subscriptions that are gone.
    package var isEmpty: Bool { indexes.values.allSatisfy(\.isEmpty) }

    /// How many conditions there are, and how many buckets of them were divided by a second anchor.
    package var conditionCount: Int { indexes.values.reduce(0) { $0 + $1.nodeCount } }
    package var splitCount: Int { indexes.values.reduce(0) { $0 + $1.splitCount } }
}

// MARK: Subscriptions

extension Router {
    /// Makes an entity known. One that is known already stays as it is.
    package func add(_ layout: RowLayout) {
        if indexes[layout.entity] == nil { indexes[layout.entity] = PredicateIndex(layout) }
    }

    /// How an entity's rows are laid out; nil for one that isn't known.
    package func layout(of entity: UInt32) -> RowLayout? { indexes[entity]?.layout }

    /// Forgets an entity whose columns have changed, with everybody who subscribed to it.
    package func forget(_ entity: UInt32) {
        indexes[entity] = nil
        subscribed = nil
    }

    /// Forgets entities that nobody subscribes to: their columns may have changed.
    package func forgetUnused() {
        indexes = indexes.filter { $0.value.count > 0 }
        subscribed = nil
    }

    /// - Parameters:
    ///   - entity: One that was added.
    ///   - expression: What the row's texts must be found by too, where it has a full-text index.
    ///   - column: A column of which a row must have one of the values that ``change(_:adding:removing:)`` gives to the
    ///     subscription: of none to begin with. Nil where any row may matter.
    ///   - affecting: The columns that the subscriber looks at, beside those of the predicate: shown, sorted or grouped by,
    ///     summed up. A row that stays isn't reported where none of them has changed.
    /// - Throws: `invalid-name` for a column that isn't there, `invalid-argument` for an entity that isn't known.
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

    /// Adds and removes values of the column that a subscription was registered with. It does nothing for one that is gone.
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
    /// Empties `changes`, lets `body` add events, and leaves the changes of those entities that somebody subscribed to.
    package func fill(_ changes: ChangeFold, _ body: (ChangeFold) throws -> Void) rethrows {
        empty(changes)
        try body(changes)
        changes.finish()
    }

    /// Empties `changes` and makes them ready for the events of those entities that somebody subscribed to.
    package func empty(_ changes: ChangeFold) {
        changes.removeAll()
        let layouts = subscribed ?? indexes.values.filter { $0.count > 0 }.map(\.layout)
        subscribed = layouts
        changes.use(layouts)
    }

    /// Says whom the changes concern, in the order of the changes.
    ///
    /// - Parameter rows: Where to read what updates left alone, at most once for each change. It must see the rows as the
    ///   changes left them; where it doesn't, everybody is concerned.
    package func route(_ changes: ChangeFold, rows: CurrentRows?) -> [RoutedChange] {
        results.removeAll(keepingCapacity: true)
        for (changeIndex, change) in changes.changes.enumerated() {
            indexes[change.entity]?.route(changeIndex, of: changes, rows: rows, counters: &counters, into: &results)
        }
        return results
    }

    /// Notes whom the changes concern who isn't noted yet: for changes that are too many to be reported one by one.
    ///
    /// - Parameter rows: As for ``route(_:rows:)``; they may have changed since, and then more is noted than need be.
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

    /// Whether the changes may concern anybody, as far as is known of them, in little time and without being counted.
    /// Where that doesn't suffice they may.
    func mayConcern(_ changes: ChangeFold) -> Bool {
        changes.changes.indices.contains { changeIndex in
            indexes[changes.changes[changeIndex].entity]?.mayConcern(changeIndex, of: changes) ?? true
        }
    }

    /// Whether anybody has subscribed to an entity.
    func hasSubscriptions(to entity: UInt32) -> Bool { indexes[entity].map { $0.count > 0 } ?? false }

    /// The columns, by their ids, that conditions of subscriptions look at, or have looked at before.
    package var columnsOfConditions: Set<UInt32> {
        Set(indexes.values.lazy.filter { $0.count > 0 }.flatMap(\.columnsOfConditions))
    }
}
