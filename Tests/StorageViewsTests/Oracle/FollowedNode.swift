import StorageCore
import Synchronization

@testable import StorageViews

/// A live node, and what it has emitted so far. Each step is checked against the value that it is based on.
struct FollowedNode<Node: LiveNode>: Sendable where Node.Update: SteppedUpdate {
    struct State {
        var value = Node.Update.Whole()
        /// What was emitted last and wasn't an error.
        var last: Node.Update?
        var error: StorageError?
        /// How often there was an error, how often everything was emitted, and how many steps.
        var errors = 0
        var wholes = 0
        var steps = 0
        /// What was wrong with the first step that wasn't possible.
        var fault: Fault?
    }

    private final class Reported: Sendable {
        let state = Mutex(State())
    }

    typealias StepFault = @Sendable (Node.Update.Step, Node.Update.Whole) -> String?

    let handle: LiveHandle
    let engine: SubscriptionEngine
    private let reported: Reported

    /// - Parameter stepFault: What is wrong with a step that is to be made on a value; nil where nothing is.
    init(_ engine: SubscriptionEngine, stepFault: @escaping StepFault, _ node: @Sendable () throws -> Node) throws {
        self.engine = engine
        let reported = Reported()
        self.reported = reported
        handle = try engine.now { engine in
            try engine.add(
                try node(), PendingUpdate { update in reported.state.withLock { $0.take(update, stepFault) } })
        }
    }

    /// Reads what it begins with beside the engine.
    init(beside engine: SubscriptionEngine, stepFault: @escaping StepFault, _ node: @Sendable () throws -> Node)
        async throws
    {
        self.engine = engine
        let reported = Reported()
        self.reported = reported
        handle = try await engine.addReadingBeside(
            node, PendingUpdate { update in reported.state.withLock { $0.take(update, stepFault) } })
    }

    var state: State { reported.state.withLock { $0 } }
}

extension FollowedNode.State {
    fileprivate mutating func take(_ update: Node.Update, _ stepFault: FollowedNode.StepFault) {
        error = update.error
        if error != nil { errors += 1 }
        guard error == nil, fault == nil else { return }
        if let last, update.position < last.position { fault = Fault("step", "from \(last.position) back") }
        if update.whole != nil { wholes += 1 }
        var expected = value
        update.apply(to: &expected, stepFault) { fault = Fault("step", $0) }
        steps += update.changes.count
        value = expected
        last = update
    }
}

extension SteppedUpdate {
    /// Makes the steps one by one, as long as they are possible: a place that isn't there would stop the program.
    fileprivate func apply(to value: inout Whole, _ stepFault: (Step, Whole) -> String?, report: (String) -> Void) {
        if let whole { value = whole }
        for step in changes {
            if let fault = stepFault(step, value) { return report("\(step) on \(value): \(fault)") }
            var single = self
            (single.whole, single.changes) = (nil, [step])
            single.apply(to: &value)
        }
    }
}

extension ListChange {
    /// - Parameter id: What identifies a row.
    func fault(on items: [Item], id: (Item) -> [StorageValue]) -> String? {
        switch self {
        case .insert(_, let place): return place >= 0 && place <= items.count ? nil : "no such place"
        case .remove(let place): return items.indices.contains(place) ? nil : "no such row"
        case .update(let item, let place):
            guard items.indices.contains(place) else { return "no such row" }
            return id(items[place]) == id(item) ? nil : "another row"
        case .move(let item, let from, let to):
            guard items.indices.contains(from), items.indices.contains(to) else { return "no such row" }
            return id(items[from]) == id(item) ? nil : "another row"
        }
    }
}

extension GroupChange {
    func fault(on sections: [GroupSection<Key, Item>], id: (Item) -> [StorageValue]) -> String? {
        func item(_ path: GroupPath) -> Item? {
            guard sections.indices.contains(path.section) else { return nil }
            let items = sections[path.section].items
            return items.indices.contains(path.row) ? items[path.row] : nil
        }
        func canInsert(_ path: GroupPath, removed: GroupPath? = nil) -> Bool {
            guard sections.indices.contains(path.section) else { return false }
            let count = sections[path.section].items.count - (removed?.section == path.section ? 1 : 0)
            return path.row >= 0 && path.row <= count
        }
        switch self {
        case .insertSection(_, let place): return place >= 0 && place <= sections.count ? nil : "no such place"
        case .removeSection(let place), .count(_, let place):
            return sections.indices.contains(place) ? nil : "no such group"
        case .moveSection(let from, let to):
            return sections.indices.contains(from) && sections.indices.contains(to) ? nil : "no such group"
        case .insert(_, let path): return canInsert(path) ? nil : "no such place"
        case .remove(let path): return item(path) == nil ? "no such row" : nil
        case .update(let new, let path):
            guard let old = item(path) else { return "no such row" }
            return id(old) == id(new) ? nil : "another row"
        case .move(let new, let from, let to):
            guard let old = item(from), canInsert(to, removed: from) else { return "no such row" }
            return id(old) == id(new) ? nil : "another row"
        }
    }
}
