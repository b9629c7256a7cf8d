internal import StorageCore
internal import StorageLog

/// The subscriptions to one entity.
///
/// Subscriptions with the same condition share a node; the index finds nodes. The effect of a change on a node is
/// determined by evaluating its whole condition on the row before and after, so the index may find too many nodes,
/// never too few.
///
/// Isolation: not `Sendable`; it belongs to a ``Router``.
final class PredicateIndex {
    private struct Node {
        var condition: Condition
        /// Values of which a row must have one besides meeting the condition. The node is indexed by them then, and not
        /// shared.
        var values: ValueSet?
        var columns: ColumnMask
        /// The columns that its subscriptions depend on; it may be larger than necessary.
        var affecting = ColumnMask.none
        var first: Int32 = -1
        var subscriptions: Int32 = 0
        var isOpaque: Bool
        var candidateCount: UInt32 = 0
        var evaluations: UInt32 = 0
    }

    private struct Subscription {
        var node: Int32
        /// The other subscriptions of the node.
        var next: Int32 = -1
        var previous: Int32 = -1
        var generation: UInt32
        var affecting: ColumnMask
        var wakeups: UInt32 = 0
        var lastEffect: SubscriptionEffect?
        var lastPosition: Int64 = 0
    }

    let layout: RowLayout
    private let row: RowKeys
    private let probe: Probe
    private let context: AnchorContext
    private let root = PostingIndex()
    private var nodes = SlotArray<Node>()
    private var nodeOfCondition: [Condition: Int32] = [:]
    private var subscriptions = SlotArray<Subscription>()
    /// The most conditions that a quick check evaluates.
    private static let quickLimit = 64

    init(_ layout: RowLayout) {
        self.layout = layout
        row = RowKeys(layout)
        probe = Probe(row)
        context = AnchorContext(layout, row)
    }

    var count: Int { subscriptions.count }
    var nodeCount: Int { nodes.count }
    /// Whether nothing is left of subscriptions that are gone.
    var isEmpty: Bool { count == 0 && nodeCount == 0 && nodeOfCondition.isEmpty && root.isEmpty }
    var splitCount: Int { root.splitCount }
}

// MARK: Coming and going

extension PredicateIndex {
    func register(
        _ predicate: RowPredicate, matching expression: SearchExpression?, valuesOf column: String?,
        affecting: ColumnMask, generation: UInt32
    ) throws -> SubscriptionToken {
        let compiler = ConditionCompiler(layout: layout, row: row)
        let texts = expression.map { compiler.compile($0) } ?? .always
        let condition = Condition.joined(all: [try compiler.compile(predicate), texts])
        let node: Int32
        if let column, let reading = try compiler.reading(column) {
            node = add(condition, ValueSet(reading, rest: [condition]))
        } else {
            // How such a column is compared only the database knows.
            let condition = column == nil ? condition : .joined(all: [condition, .opaque])
            node = nodeOfCondition[condition] ?? add(condition)
        }
        var subscription = Subscription(node: node, generation: generation, affecting: affecting)
        subscription.next = nodes[node].first
        let index = subscriptions.insert(subscription)
        if subscription.next >= 0 { subscriptions[subscription.next].previous = index }
        nodes[node].first = index
        nodes[node].subscriptions += 1
        widen(node, by: affecting)
        return SubscriptionToken(entity: layout.entity, index: index, generation: subscription.generation)
    }

    private func add(_ condition: Condition, _ values: ValueSet? = nil) -> Int32 {
        var columns = condition.columns(row)
        if let values { columns.formUnion(row.columns(of: values.reading)) }
        let node = nodes.insert(
            Node(condition: condition, values: values, columns: columns, isOpaque: condition.isOpaque))
        probe.grow(to: nodes.slots.count)
        guard values == nil else { return node }
        nodeOfCondition[condition] = node
        root.insert(node, where: [condition], in: context)
        root.widen([condition], to: columns, in: context)
        return node
    }

    private func widen(_ node: Int32, by columns: ColumnMask) {
        let known = nodes[node].affecting
        nodes[node].affecting.formUnion(columns)
        guard nodes[node].affecting != known, nodes[node].values == nil else { return }
        root.widen([nodes[node].condition], to: columns, in: context)
    }

    /// Does nothing for a subscription that is gone.
    func remove(_ token: SubscriptionToken) {
        guard isLive(token) else { return }
        let subscription = subscriptions[token.index]
        let node = subscription.node
        if subscription.next >= 0 { subscriptions[subscription.next].previous = subscription.previous }
        if subscription.previous >= 0 {
            subscriptions[subscription.previous].next = subscription.next
        } else {
            nodes[node].first = subscription.next
        }
        subscriptions.remove(
            token.index, leaving: Subscription(node: -1, generation: subscription.generation, affecting: .none))
        nodes[node].subscriptions -= 1
        guard nodes[node].subscriptions == 0 else { return }
        if let values = nodes[node].values {
            let posting = Posting(node: node, rest: values.rest)
            for anchor in values.anchors { root.remove(posting, under: anchor, in: context) }
        } else {
            root.remove(node, where: [nodes[node].condition], in: context)
            nodeOfCondition[nodes[node].condition] = nil
        }
        nodes.remove(node, leaving: Node(condition: .never, columns: .none, isOpaque: false))
    }

    /// Adds and removes values that a subscription is indexed by; does nothing for a removed one.
    func change(_ token: SubscriptionToken, adding added: [StorageValue], removing removed: [StorageValue]) {
        guard isLive(token) else { return }
        let node = nodes[subscriptions[token.index].node]
        guard let values = node.values else { return }
        let posting = Posting(node: subscriptions[token.index].node, rest: values.rest)
        for hash in added.compactMap({ values.hash(of: $0, in: row) }) where values.insert(hash) {
            root.insert(posting, under: values.anchor(hash), in: context)
        }
        for hash in removed.compactMap({ values.hash(of: $0, in: row) }) where values.remove(hash) {
            root.remove(posting, under: values.anchor(hash), in: context)
        }
        guard values.count > 0 else { return }
        root.widen(values.reading, to: node.columns)
        root.widen(values.reading, to: node.affecting)
    }

    private func isLive(_ token: SubscriptionToken) -> Bool {
        Int(token.index) < subscriptions.slots.count && subscriptions[token.index].generation == token.generation
            && subscriptions[token.index].node >= 0
    }
}

// MARK: Routing

extension PredicateIndex {
    /// Adds the effects of the change at an index on the subscriptions that it affects.
    func route(
        _ index: Int, of changes: ChangeFold, rows: CurrentRows?, counters: inout RouterCounters,
        into output: inout [RoutedChange]
    ) {
        let change = changes.changes[index]
        counters.changes += 1
        guard !change.isForeign else { return wakeAll(change, at: index, counters: &counters, into: &output) }
        row.begin(change, of: changes, rows: rows)
        defer { row.end() }
        probe.begin()
        probe.changed = change.changed
        root.visit(probe, images: change.isUpdate ? .both : change.existed ? .old : .new)
        let start = output.count
        counters.candidates += probe.candidates.count
        for node in probe.candidates {
            guard let effect = effect(of: change, on: node, counters: &counters) else { continue }
            notify(node, of: effect, by: change, at: index, into: &output)
        }
        if row.failed {
            output.removeSubrange(start...)
            return wakeAll(change, at: index, counters: &counters, into: &output)
        }
        counters.woken += output.count - start
    }

    /// Adds the subscriptions that the change at an index affects, except those of conditions that are already noted.
    ///
    /// - Parameter noted: Conditions all of whose subscriptions were added, by this call and earlier ones.
    /// - Returns: Whether all subscriptions of the entity were added.
    func note(
        _ index: Int, of changes: ChangeFold, rows: CurrentRows?, counters: inout RouterCounters,
        noted: inout Set<Int32>, into output: inout [RoutedChange]
    ) -> Bool {
        let change = changes.changes[index]
        counters.changes += 1
        row.begin(change, of: changes, rows: rows)
        defer { row.end() }
        probe.begin()
        probe.changed = change.changed
        if !change.isForeign { root.visit(probe, images: change.isUpdate ? .both : change.existed ? .old : .new) }
        counters.candidates += probe.candidates.count
        for node in probe.candidates where !noted.contains(node) {
            guard let effect = effect(of: change, on: node, counters: &counters) else { continue }
            let start = output.count
            notify(node, of: effect, by: change, at: index, into: &output)
            counters.woken += output.count - start
            if output.count - start == Int(nodes[node].subscriptions) { noted.insert(node) }
        }
        guard change.isForeign || row.failed else { return noted.count == nodeCount }
        wakeAll(change, at: index, counters: &counters, into: &output)
        return true
    }

    /// As ``route`` would, but without reading rows or cutting words, and only up to the first one that is concerned.
    func mayConcern(_ index: Int, of changes: ChangeFold) -> Bool {
        let change = changes.changes[index]
        guard !change.isForeign else { return true }
        row.begin(change, of: changes, rows: nil, isQuick: true)
        defer { row.end() }
        probe.begin(limit: Self.quickLimit)
        probe.changed = change.changed
        root.visit(probe, images: change.isUpdate ? .both : change.existed ? .old : .new)
        guard !probe.isFull, !row.failed else { return true }
        return probe.candidates.contains { mayConcern(change, on: nodes[$0]) || row.failed }
    }

    private func mayConcern(_ change: FoldedChange, on node: Node) -> Bool {
        let touchesCondition = !change.isUpdate || change.changed.intersects(node.columns)
        guard touchesCondition || change.changed.intersects(node.affecting) else { return false }
        if change.exists, isTrue(node.condition, node.values, on: .new) { return true }
        return change.existed && touchesCondition && isTrue(node.condition, node.values, on: .old)
    }

    private func isTrue(_ condition: Condition, _ values: ValueSet?, on image: RowKeys.Image) -> Bool {
        (values?.holds(row, image) ?? true) && condition.isTrue(row, image)
    }

    /// The columns, by their ids, that conditions look at, or have looked at before.
    var columnsOfConditions: [UInt32] { row.readings.map { layout.columns[$0.columnIndex].id } }

    private func effect(
        of change: FoldedChange, on node: Int32, counters: inout RouterCounters
    ) -> SubscriptionEffect? {
        nodes[node].candidateCount &+= 1
        let (columns, affecting) = (nodes[node].columns, nodes[node].affecting)
        let touchesCondition = change.changed.intersects(columns)
        if change.isUpdate, !touchesCondition, !change.changed.intersects(affecting) { return nil }
        let (condition, values) = (nodes[node].condition, nodes[node].values)
        let isIn = change.exists && evaluate(condition, values, of: node, on: .new, counters: &counters)
        // A change of other columns can't change the condition's result.
        let isAsBefore = change.isUpdate && !touchesCondition
        let wasIn =
            change.existed
            && (isAsBefore ? isIn : evaluate(condition, values, of: node, on: .old, counters: &counters))
        guard wasIn || isIn else { return nil }
        if nodes[node].isOpaque { return .uncertain }
        return wasIn ? isIn ? .stay : .leave : .enter
    }

    private func evaluate(
        _ condition: Condition, _ values: ValueSet?, of node: Int32, on image: RowKeys.Image,
        counters: inout RouterCounters
    ) -> Bool {
        counters.evaluations += 1
        nodes[node].evaluations &+= 1
        return isTrue(condition, values, on: image)
    }

    private func notify(
        _ node: Int32, of effect: SubscriptionEffect, by change: FoldedChange, at index: Int,
        into output: inout [RoutedChange]
    ) {
        var next = nodes[node].first
        while next >= 0 {
            let subscription = next
            next = subscriptions[next].next
            if effect == .stay, !change.changed.intersects(subscriptions[subscription].affecting) { continue }
            wake(subscription, of: effect, by: change, at: index, into: &output)
        }
    }

    private func wake(
        _ subscription: Int32, of effect: SubscriptionEffect, by change: FoldedChange, at index: Int,
        into output: inout [RoutedChange]
    ) {
        subscriptions[subscription].wakeups &+= 1
        subscriptions[subscription].lastEffect = effect
        subscriptions[subscription].lastPosition = change.position
        let token = SubscriptionToken(
            entity: layout.entity, index: subscription, generation: subscriptions[subscription].generation)
        output.append(RoutedChange(token: token, effect: effect, change: index))
    }

    /// A change that can't be evaluated wakes every subscription, so that none misses it.
    private func wakeAll(
        _ change: FoldedChange, at index: Int, counters: inout RouterCounters, into output: inout [RoutedChange]
    ) {
        counters.fallbacks += 1
        counters.woken += count
        for subscription in subscriptions.slots.indices.lazy.map(Int32.init) where subscriptions[subscription].node >= 0
        {
            wake(subscription, of: .uncertain, by: change, at: index, into: &output)
        }
    }
}

// MARK: Explaining

extension PredicateIndex {
    func explain(_ token: SubscriptionToken) -> SubscriptionExplanation.Table? {
        guard isLive(token) else { return nil }
        let subscription = subscriptions[token.index]
        let node = nodes[subscription.node]
        let anchors = node.values.map { [describe($0)] } ?? node.condition.branches(context)?.map(describe)
        return SubscriptionExplanation.Table(
            name: layout.name, tier: node.isOpaque ? .opaque : anchors == nil ? .evaluated : .indexed,
            anchors: Set(anchors ?? []).sorted(),
            rerunReason: node.isOpaque
                ? "only SQLite can evaluate its condition, which has SQL or a collation of your own" : nil,
            sharedBy: Int(node.subscriptions), candidateCount: Int(node.candidateCount),
            evaluations: Int(node.evaluations), wakeups: Int(subscription.wakeups),
            lastPosition: subscription.lastPosition, lastEffect: subscription.lastEffect)
    }

    private func describe(_ values: ValueSet) -> String {
        let name = layout.columns[row[values.reading].columnIndex].name
        return "\(name) among \(values.count) \(values.count == 1 ? "value" : "values")"
    }

    private func describe(_ branch: Branch) -> String {
        let isWord = branch.anchor.reading == .words
        let name = isWord ? "a word" : layout.columns[row[branch.anchor.reading].columnIndex].name
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
