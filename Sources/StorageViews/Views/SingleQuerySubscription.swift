public import Observation
public import StorageCore
public import StorageEntities

/// The first row that a query finds, live; nil while there is none.
///
/// ```swift
/// let newest = SingleQuerySubscription(storage.query(Post.self).orderBy(\.createdAt, .descending))
/// ```
@MainActor @Observable
public final class SingleQuerySubscription<Entity: RegisteredEntity>: StorageSubscription {
    private var state = ListState<Entity>()

    package init(_ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, start: SubscriptionStart) {
        super.init(engine)
        var rows = request.rows
        rows.limit = min(rows.limit ?? 1, 1)
        let spec = ListSpec(RowForm(Entity.self), rows)
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

    /// The row.
    public var item: Entity? { state.value.first }
    /// The row, nil if there is none, or the error that has prevented reading it so far.
    public var result: Result<Entity?, StorageError> { result(item) }

    /// The row now, and after each change of it.
    public var snapshots: SubscriptionSequence<Entity?> {
        state.readSnapshots(of: self, at: position, isLoaded: refreshCount > 0).map { $0.first }
            .repeated { self.snapshots }
    }

    /// The row now, and then the difference from each state to the next, as a list of one row or none.
    public var differences: SubscriptionSequence<ListDifference<Entity>> {
        state.readDifferences(of: self, at: position, isLoaded: refreshCount > 0)
            .repeated { self.differences }
    }
}
