public import Observation
public import StorageCore
public import StorageEntities

/// The rows that a query finds, live.
///
/// ```swift
/// let adults = QuerySubscription(storage.query(User.self).where { $0.age >= 18 }.orderBy(\.name).limit(50))
/// print(adults.items)
/// for await difference in adults.differences { … }
/// ```
///
/// A commit costs as much as its changed rows: a row is inserted or removed at its index, even if the query has a
/// limit. Only the database can evaluate your own conditions in SQL and custom collations: with them each change of the
/// table reloads the rows, and so does each change of another table that such SQL reads.
@MainActor @Observable
public final class QuerySubscription<Entity: RegisteredEntity>: StorageSubscription {
    private var state = ListState<Entity>()

    package init(_ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, start: SubscriptionStart) {
        super.init(engine)
        let spec = ListSpec(RowForm(Entity.self), request.rows)
        followList(start, spec, including: request.inclusions) { [weak self] in self?.take($0) }
    }

    private func take(_ update: ListUpdate<Entity>) {
        guard state.take(update) else { return readAgain() }
        took(update.error, at: update.position)
    }

    override func ended() {
        super.ended()
        state.end()
    }

    /// The rows, in the query's order.
    public var items: [Entity] { state.value }
    /// The rows, or the error that has prevented reading them so far.
    public var result: Result<[Entity], StorageError> { result(state.value) }

    /// The rows now, and after each change.
    public var snapshots: SubscriptionSequence<[Entity]> {
        state.readSnapshots(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.snapshots }
    }

    /// The rows now, and then the difference from each state to the next.
    public var differences: SubscriptionSequence<ListDifference<Entity>> {
        state.readDifferences(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.differences }
    }
}
