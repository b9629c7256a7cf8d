import StorageCore

/// Makes a scenario that fails smaller, as long as it fails in the same way.
struct ScenarioShrinker {
    /// How many scenarios may be run.
    var limit = 1_000
    let fails: @Sendable (Scenario) async -> Bool

    func shrink(_ scenario: Scenario) async -> Scenario {
        var smallest = scenario
        var place = 0
        var isBetter = false
        for _ in 0..<limit {
            let candidates = Self.simpler(than: smallest)
            if place >= candidates.count {
                guard isBetter else { break }
                (place, isBetter) = (0, false)
                continue
            }
            if await fails(candidates[place]) {
                smallest = candidates[place]
                isBetter = true
            } else {
                place += 1
            }
        }
        return smallest
    }

    /// Scenarios with a little less, those that lose most first.
    static func simpler(than scenario: Scenario) -> [Scenario] {
        var all: [Scenario] = []
        let names = scenario.views.map(\.name)
        if names.count > 2 { all += names.map { name in scenario.without { $0 != name } } }
        all += names.map { name in scenario.without { $0 == name } }
        all += shorter(scenario.relations).map { scenario.with(\.relations, $0) }
        all += shorter(scenario.steps).map { scenario.with(\.steps, $0) }
        all += shorter(scenario.filling).map { scenario.with(\.filling, $0) }
        for (place, step) in scenario.steps.enumerated() {
            if case .move = step {
                var changed = scenario
                changed.steps[place] = .look
                all.append(changed)
            }
            for operations in shorter(step.operations) + simpler(than: step.operations) {
                var changed = scenario
                changed.steps[place].operations = operations
                all.append(changed)
            }
        }
        all += simpler(than: scenario.filling).map { scenario.with(\.filling, $0) }
        for (place, view) in scenario.views.enumerated() {
            for simpler in simpler(than: view) {
                var changed = scenario
                changed.views[place] = simpler
                all.append(changed)
            }
        }
        if scenario.readsLog { all.append(scenario.with(\.readsLog, false)) }
        return all
    }

    /// A half less, then a quarter …, at last one element.
    private static func shorter<Element>(_ elements: [Element]) -> [[Element]] {
        var all: [[Element]] = []
        var length = (elements.count + 1) / 2
        while length > 0 {
            for start in stride(from: 0, to: elements.count, by: length) {
                var rest = elements
                rest.removeSubrange(start..<min(start + length, elements.count))
                all.append(rest)
            }
            length = length == 1 ? 0 : (length + 1) / 2
        }
        return all
    }

    /// With one value made NULL, or one statement kept that was rolled back.
    private static func simpler(than operations: [Scenario.Operation]) -> [[Scenario.Operation]] {
        var all: [[Scenario.Operation]] = []
        for (place, operation) in operations.enumerated() {
            var changed = operations
            if operation.isUndone {
                changed[place].isUndone = false
                all.append(changed)
            }
            for value in operation.values.indices where operation.values[value] != .null {
                changed = operations
                changed[place].values[value] = .null
                all.append(changed)
            }
        }
        return all
    }

    private static func simpler(than view: Scenario.View) -> [Scenario.View] {
        var all: [Scenario.View] = []
        func add<Value: Equatable>(_ path: WritableKeyPath<Scenario.View, Value>, _ value: Value) {
            guard view[keyPath: path] != value else { return }
            var changed = view
            changed[keyPath: path] = value
            all.append(changed)
        }
        add(\.filter, nil)
        for filter in view.filter.map(simpler(than:)) ?? [] { add(\.filter, filter) }
        add(\.search, nil)
        add(\.limit, nil)
        add(\.offset, 0)
        for orderings in shorter(view.orderings) { add(\.orderings, orderings) }
        switch view.kind {
        case .list: add(\.kind, .list())
        case .groups(let groups):
            add(\.kind, .groups(Scenario.Groups(key: groups.key, order: groups.order)))
            add(\.kind, .groups(Scenario.Groups(key: groups.key, order: groups.order, limit: groups.limit)))
        case .aggregates(let groups, let terms, let extremes):
            for fewer in shorter(groups) { add(\.kind, .aggregates(groups: fewer, terms: terms, extremes: extremes)) }
            for fewer in shorter(terms) where !fewer.isEmpty {
                add(\.kind, .aggregates(groups: groups, terms: fewer, extremes: extremes))
            }
        }
        return all
    }

    private static func simpler(than predicate: RowPredicate) -> [RowPredicate] {
        switch predicate {
        case .all(let parts):
            parts + shorter(parts).map { .all($0) }
                + parts.indices.flatMap { place in
                    simpler(than: parts[place]).map { part in
                        .all(parts.enumerated().map { $0.offset == place ? part : $0.element })
                    }
                }
        case .any(let parts):
            parts + shorter(parts).map { .any($0) }
                + parts.indices.flatMap { place in
                    simpler(than: parts[place]).map { part in
                        .any(parts.enumerated().map { $0.offset == place ? part : $0.element })
                    }
                }
        case .not(let part): [part] + simpler(than: part).map { .not($0) }
        case .among(let column, let values): shorter(values).map { .among(column: column, $0) }
        default: []
        }
    }
}

extension Scenario {
    fileprivate func with<Value>(_ path: WritableKeyPath<Scenario, Value>, _ value: Value) -> Scenario {
        var changed = self
        changed[keyPath: path] = value
        return changed
    }

    /// Without views of some names, and what is about them.
    fileprivate func without(_ isGone: (String) -> Bool) -> Scenario {
        var changed = self
        changed.views.removeAll { isGone($0.name) }
        changed.relations.removeAll { $0.views.contains(where: isGone) }
        changed.steps.removeAll { if case .move(let name, _) = $0 { isGone(name) } else { false } }
        return changed
    }
}
