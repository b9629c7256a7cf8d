import PredicateTestSupport
import StorageCore
import Synchronization

@testable import StorageLog
@testable import StorageViews

/// What a notifier delivers of ``RoutedStore``'s rows beside the difference of the tables before and after.
final class NotifierOracle: Sendable {
    enum Wanted {
        case all
        case ids([StorageValue])
        case fields([Int])
        case query(PredicateEvaluator, shown: [Int]?)
        case custom
    }

    let wanted: Wanted
    private let handle: LiveHandle
    private let reported = Reported()

    private final class Reported: Sendable {
        let events = Mutex<[ChangeEvent]>([])
    }

    init(_ filter: SubscriptionFilter, _ wanted: Wanted, _ engine: SubscriptionEngine) throws {
        self.wanted = wanted
        let reported = reported
        handle = try engine.now { engine in
            let pendingUpdate = PendingUpdate<ChangeEventUpdate> { update in
                reported.events.withLock { $0 += update.events }
            }
            return try engine.add(ChangeEventNode("rows", filter: filter, limit: 1_000), pendingUpdate)
        }
    }

    /// Which rows it has to tell: inserts and deletes by their whole rows, updates by what changed.
    private func isWanted(_ key: String, _ old: [StorageValue]?, _ new: [StorageValue]?) -> Bool {
        switch wanted {
        case .all: return true
        case .ids(let ids): return ids.contains(.text(key))
        case .fields(let places):
            guard let old, let new else { return true }
            return places.contains { old[$0] != new[$0] }
        case .query(let evaluator, let shown):
            let wasIn = old.map { evaluator.evaluate($0) == true } ?? false
            let isIn = new.map { evaluator.evaluate($0) == true } ?? false
            if wasIn, isIn, let shown, let old, let new { return shown.contains { old[$0] != new[$0] } }
            return wasIn || isIn
        case .custom: return key.hasSuffix("1")
        }
    }

    /// - Returns: What is wrong since the last call; nil where nothing is.
    func fault(_ before: [String: [StorageValue]], _ after: [String: [StorageValue]]) -> String? {
        let events = reported.events.withLock { events in
            defer { events = [] }
            return events
        }
        var reported: [String: ChangeEvent] = [:]
        for event in events {
            guard case .text(let key)? = event.id else { return "\(event) isn't of a row" }
            if reported.updateValue(event, forKey: key) != nil { return "\(key) is reported twice" }
        }
        for key in Set(before.keys).union(after.keys).sorted() where before[key] != after[key] {
            let (old, new) = (before[key], after[key])
            let event = reported.removeValue(forKey: key)
            guard isWanted(key, old, new) else {
                if let event { return "reported: \(event)" }
                continue
            }
            guard let event else { return "not reported: \(key)" }
            if event != Self.event(key, old, new, event.position) {
                return "\(event), but \(old ?? []) and \(new ?? [])"
            }
        }
        return reported.first.map { "an event without a change: \($0.value)" }
    }

    private static func event(
        _ key: String, _ old: [StorageValue]?, _ new: [StorageValue]?, _ position: Int64
    ) -> ChangeEvent? {
        func data(_ row: [StorageValue]) -> [String: StorageValue] {
            Dictionary(uniqueKeysWithValues: zip(RoutedStore.columns, row))
        }
        guard let old else {
            return new.map { .inserted(tableName: "rows", id: .text(key), newData: data($0), position: position) }
        }
        guard let new else {
            return .deleted(tableName: "rows", id: .text(key), oldData: data(old), position: position)
        }
        var changes: [String: FieldChange] = [:]
        for (place, name) in RoutedStore.columns.enumerated() where old[place] != new[place] {
            changes[name] = FieldChange(old: old[place], new: new[place])
        }
        return .updated(tableName: "rows", id: .text(key), changes: changes, position: position)
    }
}
