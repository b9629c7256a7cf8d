internal import StorageCore
internal import StorageLog

/// The subscriptions to one entity.
///
/// Subscriptions with the same condition share a node; the index finds nodes. What a node is to a change is decided by
/// evaluating its whole condition on the row before and after, so the index may find too much, never too little.
///
/// Isolation: not `Sendable`; it belongs to a ``Router``.
final class PredicateIndex {
    private struct Node {
        var condition: Condition
        var columns: ColumnMask
        /// What any of its subscriptions looks at; it may be larger than it need be.
        var affecting = ColumnMask.none
        var first: Int32 = -1
        var subscriptions: Int32 = 0
        var isOpaque: Bool
        var candidacies: UInt32 = 0
        var evaluations: UInt32 = 0
    }

    private struct Subscription {
        var node: Int32
        /// The other subscriptions of the node.
        var next: Int32 = -1
        var previous: Int32 = -1
        var generation: UInt32
        var affecting: ColumnMask
        var wakes: UInt32 = 0
        var lastEffect: RoutedChange.Effect?
        var lastPosition: Int64 = 0
    }

    let layout: RowLayout
    private let row: RowKeys
    private let probe: Probe
    private let context: AnchorContext
    private let root = PostingIndex()
    private var nodes: [Node] = []
    private var freeNodes: [Int32] = []
    private var nodeOfCondition: [Condition: Int32] = [:]
    private var subscriptions: [Subscription] = []
    private var freeSubscriptions: [Int32] = []
    /// More conditions than these aren't evaluated where time is short.
    private static let quickLimit = 64

    init(_ layout: RowLayout) {
        self.layout = layout
        row = RowKeys(layout)
        probe = Probe(row)
        context = AnchorContext(layout, row)
    }

    var count: Int { subscriptions.count - freeSubscriptions.count }
    var nodeCount: Int { nodes.count - freeNodes.count }
    /// Whether nothing is left of subscriptions that are gone.
    var isEmpty: Bool { count == 0 && nodeCount == 0 && nodeOfCondition.isEmpty && root.isEmpty }
    var splitCount: Int { root.splitCount }
}

// MARK: Coming and going

extension PredicateIndex {
    func register(
        _ predicate: RowPredicate, matching expression: SearchExpression?, affecting: ColumnMask, generation: UInt32
    ) throws -> SubscriptionToken {
        let compiler = ConditionCompiler(layout: layout, row: row)
        let texts = expression.map { compiler.compile($0) } ?? .always
        let condition = Condition.joined(all: [try compiler.compile(predicate), texts])
        let node = nodeOfCondition[condition] ?? add(condition)
        let place: Int32
        var subscription = Subscription(node: node, generation: generation, affecting: affecting)
        subscription.next = nodes[Int(node)].first
        if let reused = freeSubscriptions.popLast() {
            place = reused
            subscriptions[Int(reused)] = subscription
        } else {
            place = Int32(subscriptions.count)
            subscriptions.append(subscription)
        }
        if subscription.next >= 0 { subscriptions[Int(subscription.next)].previous = place }
        nodes[Int(node)].first = place
        nodes[Int(node)].subscriptions += 1
        widen(node, by: affecting)
        return SubscriptionToken(entity: layout.entity, place: place, generation: subscription.generation)
    }

    private func add(_ condition: Condition) -> Int32 {
        let node = Node(condition: condition, columns: condition.columns(row), isOpaque: condition.isOpaque)
        let place: Int32
        if let reused = freeNodes.popLast() {
            place = reused
            nodes[Int(place)] = node
        } else {
            place = Int32(nodes.count)
            nodes.append(node)
            probe.grow(to: nodes.count)
        }
        nodeOfCondition[condition] = place
        root.insert(place, [condition], context)
        root.widen([condition], to: node.columns, context)
        return place
    }

    private func widen(_ node: Int32, by columns: ColumnMask) {
        let known = nodes[Int(node)].affecting
        nodes[Int(node)].affecting.formUnion(columns)
        guard nodes[Int(node)].affecting != known else { return }
        root.widen([nodes[Int(node)].condition], to: columns, context)
    }

    /// Does nothing for a subscription that is gone.
    func remove(_ token: SubscriptionToken) {
        guard isLive(token) else { return }
        let place = Int(token.place)
        let subscription = subscriptions[place]
        let node = Int(subscription.node)
        if subscription.next >= 0 { subscriptions[Int(subscription.next)].previous = subscription.previous }
        if subscription.previous >= 0 {
            subscriptions[Int(subscription.previous)].next = subscription.next
        } else {
            nodes[node].first = subscription.next
        }
        subscriptions[place] = Subscription(node: -1, generation: subscription.generation, affecting: .none)
        freeSubscriptions.append(token.place)
        nodes[node].subscriptions -= 1
        guard nodes[node].subscriptions == 0 else { return }
        root.remove(subscription.node, [nodes[node].condition], context)
        nodeOfCondition[nodes[node].condition] = nil
        nodes[node] = Node(condition: .never, columns: .none, isOpaque: false)
        freeNodes.append(subscription.node)
    }

    private func isLive(_ token: SubscriptionToken) -> Bool {
        Int(token.place) < subscriptions.count && subscriptions[Int(token.place)].generation == token.generation
            && subscriptions[Int(token.place)].node >= 0
    }
}

// MARK: Routing

extension PredicateIndex {
    /// Adds what the change at a place is to whom.
    func route(
        _ place: Int, of changes: FoldedChanges, _ rows: CurrentRows?, _ counters: inout RouterCounters,
        into output: inout [RoutedChange]
    ) {
        let change = changes.changes[place]
        counters.changes += 1
        guard !change.isForeign else { return wakeAll(place, change, &counters, into: &output) }
        row.begin(change, of: changes, rows)
        defer { row.end() }
        probe.begin()
        probe.changed = change.changed
        root.visit(probe, change.isUpdate ? .both : change.existed ? .old : .new)
        let start = output.count
        counters.candidates += probe.candidates.count
        for node in probe.candidates {
            guard let effect = effect(change, on: Int(node), &counters) else { continue }
            tell(node, effect, place, change, into: &output)
        }
        if row.failed {
            output.removeSubrange(start...)
            return wakeAll(place, change, &counters, into: &output)
        }
        counters.woken += output.count - start
    }

    /// Adds whom the change at a place concerns, but for subscriptions to conditions that are noted already.
    ///
    /// - Parameter noted: Conditions of which all subscriptions were added, by this call and earlier ones.
    /// - Returns: Whether that is all of them.
    func note(
        _ place: Int, of changes: FoldedChanges, _ rows: CurrentRows?, _ counters: inout RouterCounters,
        _ noted: inout Set<Int32>, into output: inout [RoutedChange]
    ) -> Bool {
        let change = changes.changes[place]
        counters.changes += 1
        row.begin(change, of: changes, rows)
        defer { row.end() }
        probe.begin()
        probe.changed = change.changed
        if !change.isForeign { root.visit(probe, change.isUpdate ? .both : change.existed ? .old : .new) }
        counters.candidates += probe.candidates.count
        for node in probe.candidates where !noted.contains(node) {
            guard let effect = effect(change, on: Int(node), &counters) else { continue }
            let start = output.count
            tell(node, effect, place, change, into: &output)
            counters.woken += output.count - start
            if output.count - start == Int(nodes[Int(node)].subscriptions) { noted.insert(node) }
        }
        guard change.isForeign || row.failed else { return noted.count == nodeCount }
        wakeAll(place, change, &counters, into: &output)
        return true
    }

    /// As ``route`` would, but without reading rows or cutting words, and only up to the first one that is concerned.
    func mayConcern(_ place: Int, of changes: FoldedChanges) -> Bool {
        let change = changes.changes[place]
        guard !change.isForeign else { return true }
        row.begin(change, of: changes, nil, isQuick: true)
        defer { row.end() }
        probe.begin(limit: Self.quickLimit)
        probe.changed = change.changed
        root.visit(probe, change.isUpdate ? .both : change.existed ? .old : .new)
        guard !probe.isFull, !row.failed else { return true }
        return probe.candidates.contains { mayConcern(change, on: nodes[Int($0)]) || row.failed }
    }

    private func mayConcern(_ change: FoldedChange, on node: Node) -> Bool {
        let touchesCondition = !change.isUpdate || change.changed.intersects(node.columns)
        guard touchesCondition || change.changed.intersects(node.affecting) else { return false }
        if change.exists, node.condition.isTrue(row, .new) { return true }
        return change.existed && touchesCondition && node.condition.isTrue(row, .old)
    }

    /// The columns, by their ids, that conditions look at, or have looked at before.
    var columnsOfConditions: [UInt32] { row.readings.map { layout.columns[$0.place].id } }

    private func effect(_ change: FoldedChange, on node: Int, _ counters: inout RouterCounters) -> RoutedChange.Effect?
    {
        nodes[node].candidacies &+= 1
        let (columns, affecting) = (nodes[node].columns, nodes[node].affecting)
        let touchesCondition = change.changed.intersects(columns)
        if change.isUpdate, !touchesCondition, !change.changed.intersects(affecting) { return nil }
        let condition = nodes[node].condition
        let isIn = change.exists && evaluate(condition, node, .new, &counters)
        // What the condition doesn't look at can't change its answer.
        let wasIn =
            change.existed && (change.isUpdate && !touchesCondition ? isIn : evaluate(condition, node, .old, &counters))
        guard wasIn || isIn else { return nil }
        if nodes[node].isOpaque { return .uncertain }
        return wasIn ? isIn ? .stay : .leave : .enter
    }

    private func evaluate(
        _ condition: Condition, _ node: Int, _ image: RowKeys.Image, _ counters: inout RouterCounters
    ) -> Bool {
        counters.evaluations += 1
        nodes[node].evaluations &+= 1
        return condition.isTrue(row, image)
    }

    private func tell(
        _ node: Int32, _ effect: RoutedChange.Effect, _ place: Int, _ change: FoldedChange,
        into output: inout [RoutedChange]
    ) {
        var next = nodes[Int(node)].first
        while next >= 0 {
            let subscription = Int(next)
            next = subscriptions[subscription].next
            if effect == .stay, !change.changed.intersects(subscriptions[subscription].affecting) { continue }
            wake(subscription, effect, place, change, into: &output)
        }
    }

    private func wake(
        _ subscription: Int, _ effect: RoutedChange.Effect, _ place: Int, _ change: FoldedChange,
        into output: inout [RoutedChange]
    ) {
        subscriptions[subscription].wakes &+= 1
        subscriptions[subscription].lastEffect = effect
        subscriptions[subscription].lastPosition = change.position
        let token = SubscriptionToken(
            entity: layout.entity, place: Int32(subscription), generation: subscriptions[subscription].generation)
        output.append(RoutedChange(token: token, effect: effect, change: place))
    }

    /// Nobody may miss a change, so one of which nothing can be said concerns everybody.
    private func wakeAll(
        _ place: Int, _ change: FoldedChange, _ counters: inout RouterCounters, into output: inout [RoutedChange]
    ) {
        counters.fallbacks += 1
        counters.woken += count
        for subscription in subscriptions.indices where subscriptions[subscription].node >= 0 {
            wake(subscription, .uncertain, place, change, into: &output)
        }
    }
}

// MARK: Explaining

extension PredicateIndex {
    func explain(_ token: SubscriptionToken) -> SubscriptionExplanation? {
        guard isLive(token) else { return nil }
        let subscription = subscriptions[Int(token.place)]
        let node = nodes[Int(subscription.node)]
        let branches = node.condition.branches(context)
        return SubscriptionExplanation(
            tier: node.isOpaque ? .opaque : branches == nil ? .evaluated : .indexed,
            anchors: Set((branches ?? []).map(describe)).sorted(), sharers: Int(node.subscriptions),
            candidacies: Int(node.candidacies), evaluations: Int(node.evaluations), wakes: Int(subscription.wakes),
            lastPosition: subscription.lastPosition, lastEffect: subscription.lastEffect)
    }

    private func describe(_ branch: Branch) -> String {
        let isWord = branch.anchor.reading == RowKeys.words
        let name = isWord ? "a word" : layout.columns[row.readings[branch.anchor.reading].place].name
        switch branch.anchor {
        case .equal: return "\(name) ="
        case .null: return "\(name) is null"
        case .prefix(_, let length, _): return "\(name) begins with \(length) bytes"
        case .interval(_, let interval):
            return interval.lower == .lowest
                ? "\(name) up to" : interval.upper == .highest ? "\(name) from" : "\(name) between"
        }
    }
}
