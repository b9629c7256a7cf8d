public import Observation
public import StorageCore
public import StorageProjections

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
        let mailbox = mailbox { [weak self] in self?.take($0) }
        var rows = request.rows
        rows.limit = min(rows.limit ?? 1, 1)
        let spec = ListSpec(RowForm(Entity.self), rows)
        let ended = endLater()
        begin(start) { engine in
            let node = ListNode(spec)
            node.connect(Outlet(mailbox, finish: ended))
            return try engine.add(node)
        }
    }

    private func take(_ update: ListUpdate<Entity>) {
        state.take(update)
        took(update.error, at: update.position)
    }

    override func ended() {
        super.ended()
        state.finish()
    }

    /// The row.
    public var item: Entity? { state.items.first }
    /// The row or nil, or why it can't be told.
    public var result: Result<Entity?, StorageError> {
        if let error, item == nil { return .failure(error) }
        return .success(item)
    }

    /// The row now, and after each change of it.
    public var snapshots: SubscriptionSequence<Entity?> {
        state.readSnapshots(of: self, refreshCount > 0).map { $0.first }
    }
}
