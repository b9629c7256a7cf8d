public import Observation
public import StorageCore
public import StorageEntities

/// How many rows a query finds, live.
///
/// ```swift
/// let unread = CountSubscription(storage.query(Message.self).where { $0.isRead == false })
/// print(unread.count)
/// ```
///
/// A commit costs it what the changed rows cost. Where the query has a limit or an offset, the rows in that window are
/// counted, by asking the database at each change of the rows that the query would find without them.
@MainActor @Observable
public final class CountSubscription<Entity: RegisteredEntity>: StorageSubscription {
    /// How many rows there are; zero until they were counted, see ``StorageSubscription/isLoading``.
    public private(set) var count = 0
    @ObservationIgnored private var subscribers = ValueState<Int>()

    package init(_ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, start: SubscriptionStart) {
        super.init(engine)
        let spec = AggregateSpec(RowForm(Entity.self).table, request.rows, terms: [AggregateTerm(.count)])
        follow(start, AggregateNode(spec)) { [weak self] in self?.take($0) }
    }

    private func take(_ update: ListUpdate<AggregateRow>) {
        let isFirst = refreshCount == 0
        took(update.error, at: update.position)
        guard case .integer(let counted)? = update.latest?.values.first else { return }
        let old = isFirst ? nil : count
        count = Int(counted)
        subscribers.send(ValueDifference(position: position, old: old, new: count))
    }

    override func ended() {
        super.ended()
        subscribers.end()
    }

    /// The count, or why there is none.
    public var result: Result<Int, StorageError> { result(count) }

    /// The count now, and after each change of it.
    public var snapshots: SubscriptionSequence<Int> {
        subscribers.readSnapshots(of: self, at: position, value: refreshCount > 0 ? count : nil)
    }

    /// The count now, and then each change of it.
    public var differences: SubscriptionSequence<ValueDifference<Int>> {
        subscribers.readDifferences(of: self, at: position, value: refreshCount > 0 ? count : nil)
    }
}

extension ListUpdate {
    /// What the update leaves of a list that has one item.
    var latest: Item? {
        guard error == nil else { return nil }
        for change in changes.reversed() {
            switch change {
            case .insert(let item, _), .update(let item, _), .move(let item, _, _): return item
            case .remove: continue
            }
        }
        return whole?.last
    }
}
