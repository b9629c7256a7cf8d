public import StorageCore
public import StorageEntities
internal import StorageViews

extension Storage {
    /// The entity with this id, now and after each change of it; nil while there is none.
    ///
    /// ```swift
    /// for await user in storage.observe(User.self, id: "1") {
    ///     show(user)
    /// }
    /// ```
    ///
    /// The stream ends when the store is closed or the reader's task is cancelled. An error doesn't end it: it
    /// continues when the row can be read again.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: What is kept for a reader that is slow: the last state where nothing else is said.
    ///   - onError: Called when the stream can't be kept up to date.
    public func observe<E: RegisteredEntity>(
        _ type: E.Type, id: E.Id, bufferingPolicy: AsyncStream<E?>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<E?> {
        let form = RowForm(type)
        let key = form.table.columns[form.table.key[0]].name
        let request = RowRequest(
            predicate: .comparison(column: key, .equal, .value(E.Record.key(of: id))), limit: 1)
        return stream(ListSpec(form, request, margin: 0), bufferingPolicy: bufferingPolicy, onError: onError) {
            items, send in send(items.first)
        }
    }

    /// All entities of a type in the order of a column, or of the key, now and after each change of any of them.
    ///
    /// ```swift
    /// for await users in storage.observeAll(User.self, orderBy: "name") {
    ///     show(users)
    /// }
    /// ```
    ///
    /// A change costs what the changed rows cost, and the copy of the list that is handed over. For lists that are long, a
    /// ``QuerySubscription`` reports the differences only.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: What is kept for a reader that is slow: the last list where nothing else is said.
    ///   - onError: Called when the stream can't be kept up to date. The stream ends where a column of this name isn't
    ///     there.
    public func observeAll<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true,
        bufferingPolicy: AsyncStream<[E]>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<[E]> {
        stream(
            listSpec(type, orderBy: column, ascending: ascending), bufferingPolicy: bufferingPolicy, onError: onError
        ) { items, send in send(items) }
    }

    /// Like ``observeAll(_:orderBy:ascending:bufferingPolicy:onError:)``, without lists that equal the one before.
    public func observeAllDistinct<E: RegisteredEntity & Equatable>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true,
        bufferingPolicy: AsyncStream<[E]>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AsyncStream<[E]> {
        let last = LastValue<[E]>()
        return stream(
            listSpec(type, orderBy: column, ascending: ascending), bufferingPolicy: bufferingPolicy, onError: onError
        ) { items, send in
            if last.change(to: items) { send(items) }
        }
    }

    private func listSpec<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String?, ascending: Bool
    ) -> ListSpec<E> {
        let form = RowForm(type)
        let key = form.table.columns[form.table.key[0]].name
        return ListSpec(form, RowRequest(orderings: [RowOrdering(column ?? key, ascending ? .ascending : .descending)]))
    }

    private func stream<E: RegisteredEntity, Element: Sendable>(
        _ spec: ListSpec<E>, bufferingPolicy policy: AsyncStream<Element>.Continuation.BufferingPolicy,
        onError: @escaping @Sendable (StorageError) -> Void, emit: @escaping @Sendable ([E], (Element) -> Void) -> Void
    ) -> AsyncStream<Element> {
        AsyncStream(bufferingPolicy: policy) { continuation in
            let list = ListStream(
                subscriptions, spec, onUpdate: { emit($0) { continuation.yield($0) } }, onFailure: onError,
                onEnd: { continuation.finish() })
            continuation.onTermination = { _ in list.cancel() }
            list.start()
        }
    }
}
