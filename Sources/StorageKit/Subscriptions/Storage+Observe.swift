public import StorageCore
public import StorageEntities
internal import StorageViews

extension Storage {
    /// Returns a stream of the entity with this id, first as it is now and then after each of its changes; nil while there is
    /// none.
    ///
    /// ```swift
    /// for await user in storage.observe(User.self, id: "1") {
    ///     show(user)
    /// }
    /// ```
    ///
    /// The stream ends when the store is closed or the reading task is cancelled. An error doesn't end it: it continues when
    /// the row can be read again.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: Which states are buffered for a slow reader; by default the last one.
    ///   - onError: Called when the stream can't be kept up to date.
    public func observe<E: RegisteredEntity>(
        _ type: E.Type, id: E.Id, bufferingPolicy: AsyncStream<E?>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<E?> {
        let table = RowForm(type).table
        let request = RowRequest(
            predicate: .comparison(
                column: table.columns[table.key[0]].name, .equal, .value(E.Record.key(of: id))), limit: 1)
        return stream(request, bufferingPolicy: bufferingPolicy, onError: onError) { (items: [E], send) in
            send(items.first)
        }
    }

    /// Returns a stream of all entities of a type, in the order of a column or of the key, first as they are now and then after
    /// each change.
    ///
    /// ```swift
    /// for await users in storage.observeAll(User.self, orderBy: "name") {
    ///     show(users)
    /// }
    /// ```
    ///
    /// A change costs time proportional to the changed rows, and a copy of the list. For long lists use a
    /// ``QuerySubscription``, which reports only the differences.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: Which lists are buffered for a slow reader; by default the last one.
    ///   - onError: Called when the stream can't be kept up to date. The stream ends if there is no column of this name.
    public func observeAll<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true,
        bufferingPolicy: AsyncStream<[E]>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<[E]> {
        stream(
            all(type, orderBy: column, ascending: ascending), bufferingPolicy: bufferingPolicy, onError: onError
        ) { items, send in send(items) }
    }

    /// Like ``observeAll(_:orderBy:ascending:bufferingPolicy:onError:)``, but leaves out each list that equals the one before,
    /// with texts of the same bytes.
    ///
    /// ```swift
    /// for await users in storage.observeAllDistinct(User.self, orderBy: "name") {
    ///     show(users)
    /// }
    /// ```
    public func observeAllDistinct<E: RegisteredEntity & Equatable>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true,
        bufferingPolicy: AsyncStream<[E]>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<[E]> {
        let last = LastValue<[E]>()
        return stream(
            all(type, orderBy: column, ascending: ascending), bufferingPolicy: bufferingPolicy, onError: onError
        ) { items, send in
            if last.change(to: items) { send(items) }
        }
    }

    private func all<E: RegisteredEntity>(_ type: E.Type, orderBy column: String?, ascending: Bool) -> RowRequest {
        let table = RowForm(type).table
        let key = table.columns[table.key[0]].name
        return RowRequest(orderings: [RowOrdering(column ?? key, ascending ? .ascending : .descending)])
    }

    private func stream<E: RegisteredEntity, Element: Sendable>(
        _ request: RowRequest, bufferingPolicy policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        onError: @escaping @Sendable (StorageError) -> Void, emit: @escaping @Sendable ([E], (Element) -> Void) -> Void
    ) -> AsyncStream<Element> {
        let live = LiveQuery.list(subscriptions, QueryRequest<E>(request))
        return AsyncStream(bufferingPolicy: policy) { continuation in
            let reading = Task {
                // Its errors were already passed to `onError`.
                do {
                    for try await items in live.snapshots(onError: onError) { emit(items) { continuation.yield($0) } }
                } catch {}
                continuation.finish()
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }
}
