public import Observation
public import StorageCore
public import StorageEntities

/// Counts, sums, means and extremes of the rows that a query finds, live.
///
/// ```swift
/// let revenue = AggregationSubscription(storage.query(Order.self).where { $0.isPaid == true }, .sum(\.total))
/// print(revenue.value)
///
/// let totals = AggregationSubscription(storage.query(Order.self), .count, .sum(\.total), .average(\.total))
/// let (count, sum, average) = totals.value
/// ```
///
/// All aggregates of a subscription reflect the same rows. A commit costs as much as its changed rows, however many
/// rows there are; see ``Aggregate`` for what is kept. If the query has a limit or an offset, only the rows in that
/// window count, and each change of the rows that the query would find without them costs a query.
@MainActor @Observable
public class AggregationSubscription<Entity: RegisteredEntity, Value: Sendable>: StorageSubscription {
    /// The value of the only aggregate, or a tuple of all of them in their order. Until it is loaded (see
    /// ``StorageSubscription/isLoading``), it is the value for no rows.
    public private(set) var value: Value
    @ObservationIgnored private let reading: AggregateReading<Value>
    @ObservationIgnored private var subscribers = ValueSubscribers<Value>()

    package init(
        _ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, reading: AggregateReading<Value>,
        start: SubscriptionStart
    ) {
        self.reading = reading
        value = reading.empty
        super.init(engine)
        let spec = AggregateSpec(RowForm(Entity.self).table, request.rows, terms: reading.terms)
        follow(isImmediate: start.isImmediate(for: spec.request, of: spec.table), AggregateNode(spec)) { [weak self] in
            self?.take($0)
        }
    }

    private func take(_ update: ListUpdate<AggregateRow>) {
        guard let row = update.latest else { return took(update.error, at: update.position) }
        do {
            let new = try reading.decode(row.values)
            let old = refreshCount == 0 ? nil : value
            value = new
            took(nil, at: update.position)
            subscribers.send(ValueDifference(position: position, old: old, new: new))
        } catch {
            took(error.forSubscribers, at: update.position)
        }
    }

    override func ended() {
        super.ended()
        subscribers.end()
    }

    /// The value, or the error that has prevented reading it so far.
    public var result: Result<Value, StorageError> { result(value) }

    /// The value now, and after each change of it.
    public var snapshots: SubscriptionSequence<Value> {
        subscribers.readSnapshots(of: self, at: position, value: refreshCount > 0 ? value : nil)
            .repeated { self.snapshots }
    }

    /// The value now, and then each change of it.
    public var differences: SubscriptionSequence<ValueDifference<Value>> {
        subscribers.readDifferences(of: self, at: position, value: refreshCount > 0 ? value : nil)
            .repeated { self.differences }
    }
}
