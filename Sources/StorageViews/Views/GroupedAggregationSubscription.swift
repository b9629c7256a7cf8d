public import Observation
public import StorageCore
public import StorageEntities

/// Counts, sums, means and extremes of the rows that a query finds, for each value of a column, live.
///
/// ```swift
/// let byStatus = GroupedAggregationSubscription(
///     storage.query(Order.self), .count, .sum(\.total), groupedBy: \.status)
/// for group in byStatus.groups { print(group.key, group.value.0, group.value.1) }
/// if let (count, sum) = byStatus[.paid] { … }
/// ```
///
/// Groups are in SQLite's order of the column, NULL first; a group exists as long as it has a row. Rows are grouped as
/// by SQLite's `GROUP BY`, with the column's collation: if it considers `a` and `A` equal, the key is that of one of
/// the group's rows. A change updates only its old and its new group.
@MainActor @Observable
public final class GroupedAggregationSubscription<
    Entity: RegisteredEntity, Key: Hashable & Sendable, Value: Sendable
>: StorageSubscription {
    /// A group with its aggregate.
    public typealias Group = AggregateGroup<Key, Value>

    private var state = ListState<Group>()
    @ObservationIgnored private let reading: AggregateReading<Value>
    /// The indices of the groups; nil if they have to be computed.
    @ObservationIgnored private var indexByKey: [Key: Int]?
    /// Whether an update couldn't be read, so that those which follow don't fit.
    @ObservationIgnored private var isBehind = false

    package init(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, reading: AggregateReading<Value>,
        groupedBy column: StorageColumn<Key>, start: SubscriptionStart
    ) {
        self.reading = reading
        super.init(engine)
        let spec = AggregateSpec(
            RowForm(Entity.self).table, request.rows, groups: [column.name], terms: reading.terms)
        follow(isImmediate: start.isImmediate(for: spec.request, of: spec.table), AggregateNode(spec)) { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ update: ListUpdate<AggregateRow>) {
        guard update.error == nil else { return took(update.error, at: update.position) }
        if isBehind, update.whole == nil { return readAgain() }
        do {
            let read = try update.map { try Group($0, reading) }
            isBehind = false
            indexByKey = nil
            guard state.take(read) else { return readAgain() }
            took(nil, at: update.position)
        } catch {
            isBehind = true
            took(error.forSubscribers, at: update.position)
        }
    }

    override func ended() {
        super.ended()
        state.end()
    }

    /// The groups, in the order of the column.
    public var groups: [Group] { state.value }

    /// The value of a group; nil if no row belongs to it.
    public subscript(key: Key) -> Value? {
        let groups = state.value
        let indexByKey =
            indexByKey
            ?? Dictionary(groups.indices.map { (groups[$0].key, $0) }, uniquingKeysWith: { first, _ in first })
        self.indexByKey = indexByKey
        return indexByKey[key].map { groups[$0].value }
    }

    /// The groups, or the error that has prevented reading them so far.
    public var result: Result<[Group], StorageError> { result(state.value) }

    /// The groups now, and after each change.
    public var snapshots: SubscriptionSequence<[Group]> {
        state.readSnapshots(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.snapshots }
    }

    /// The groups now, and then the difference from each state to the next.
    public var differences: SubscriptionSequence<ListDifference<Group>> {
        state.readDifferences(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.differences }
    }
}

/// One group of a ``GroupedAggregationSubscription``.
///
/// ```swift
/// let totals = storage.query(Order.self).liveAggregates(.sum(\.total), groupedBy: \.status)
/// for try await groups in totals.snapshots {
///     for group in groups { print(group.key, group.value) }
/// }
/// ```
public struct AggregateGroup<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The value of the column in the group's rows.
    public let key: Key
    /// The value of the only aggregate, or a tuple of all of them in their order.
    public let value: Value
}

extension AggregateGroup {
    /// - Throws: If a value isn't of its type.
    init(_ row: AggregateRow, _ reading: AggregateReading<Value>) throws {
        key = try ColumnDecoding.value(row.key[0], as: Key.self)
        value = try reading.decode(row.values)
    }
}

extension AggregateGroup: Identifiable {
    /// The value of the column in the group's rows.
    public var id: Key { key }
}

extension AggregateGroup: Equatable where Value: Equatable {}
extension AggregateGroup: Codable where Key: Codable, Value: Codable {}
