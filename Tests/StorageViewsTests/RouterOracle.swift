import Foundation
import PredicateTestSupport
import StorageCore
import StorageLog
import TestSupport

@testable import StorageRouting

/// Subscriptions, and what they ought to get, found out by evaluating every condition on every row.
struct RouterOracle {
    struct Subscription {
        let predicate: RowPredicate
        let evaluator: PredicateEvaluator
        /// Places of the columns that it looks at.
        let affecting: [Int]
        /// A column of which a row must have one of some values.
        let column: String?
        let values: [StorageValue]

        init(
            _ predicate: RowPredicate, affecting: [Int], column: String? = nil, values: [StorageValue] = []
        ) throws {
            (self.predicate, self.affecting, self.column, self.values) = (predicate, affecting, column, values)
            evaluator = try PredicateEvaluator(
                column.map { predicate && .among(column: $0, values) } ?? predicate, columns: RoutedStore.evaluated)
        }
    }

    /// What somebody gets, by the row's key.
    struct Reported: Hashable, CustomStringConvertible {
        let token: SubscriptionToken
        let key: String
        let effect: SubscriptionEffect
        var description: String { "\(key) \(effect)" }
    }

    private(set) var subscriptions: [SubscriptionToken: Subscription] = [:]

    /// Registers a condition in both worlds.
    ///
    /// - Parameter column: A column of which a row must have one of the values of ``change(_:adding:removing:in:)``.
    mutating func register(
        _ predicate: RowPredicate, valuesOf column: String? = nil, affecting: [Int], with router: Router,
        _ layout: RowLayout
    ) throws -> SubscriptionToken {
        let mask = affecting.reduce(into: ColumnMask.none) { $0.insert($1) }
        let token = try router.register(layout.entity, where: predicate, valuesOf: column, affecting: mask)
        subscriptions[token] = try Subscription(predicate, affecting: affecting, column: column)
        return token
    }

    /// Gives values to a subscription, and takes away as many of those that it has.
    mutating func change(
        _ token: SubscriptionToken, adding added: [StorageValue], removing count: Int, in router: Router
    ) throws {
        guard let known = subscriptions[token] else { return }
        let removed = known.values.prefix(count)
        router.change(token, adding: added, removing: Array(removed))
        subscriptions[token] = try Subscription(
            known.predicate, affecting: known.affecting, column: known.column,
            values: Array(known.values.dropFirst(removed.count)) + added)
    }

    mutating func remove(_ token: SubscriptionToken, from router: Router) {
        subscriptions[token] = nil
        router.remove(token)
    }

    func expected(_ before: [String: [StorageValue]], _ after: [String: [StorageValue]]) -> Set<Reported> {
        var reported: Set<Reported> = []
        for key in Set(before.keys).union(after.keys) {
            let (old, new) = (before[key], after[key])
            if old == new { continue }
            for (token, subscription) in subscriptions {
                let wasIn = old.map { subscription.evaluator.evaluate($0) == true } ?? false
                let isIn = new.map { subscription.evaluator.evaluate($0) == true } ?? false
                if wasIn, isIn, let old, let new, subscription.affecting.allSatisfy({ old[$0] == new[$0] }) { continue }
                guard wasIn || isIn else { continue }
                reported.insert(Reported(token: token, key: key, effect: wasIn ? isIn ? .stay : .leave : .enter))
            }
        }
        return reported
    }

    func reported(_ routed: [RoutedChange], _ changes: ChangeFold) -> [Reported] {
        routed.map { routed in
            let change = changes.changes[routed.change]
            let key = (change.exists ? changes.new(change) : changes.old(change))[0].value()
            guard case .text(let text) = key else {
                return Reported(token: routed.token, key: "?", effect: routed.effect)
            }
            return Reported(token: routed.token, key: text, effect: routed.effect)
        }
    }
}

enum RouterSettings {
    /// `STORAGEKIT_SEED` replays a single one.
    static func seeds(_ count: Int, from base: UInt64) -> [UInt64] {
        if let seed = ProcessInfo.processInfo.environment["STORAGEKIT_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return (0..<UInt64(max(1, Int(Double(count) * testScale)))).map { base + $0 }
    }
}
