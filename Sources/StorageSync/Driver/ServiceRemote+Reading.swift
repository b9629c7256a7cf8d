internal import Foundation
internal import StorageCore

/// Pulls: the collection at the beginning, and changes from the streams afterwards.
extension ServiceRemote {
    /// Sets the query for the next ``setListening(_:)``; nil for the whole collection.
    ///
    /// - Throws: `invalid-argument` and `invalid-value` for a query that can't be listened to.
    func setQuery(_ query: QueryBuilder?) throws {
        self.query = try query.map { ($0, try QueryEvaluation(listening: $0)) }
    }

    func setListening(_ isListening: Bool) {
        endListener()
        listener = isListening ? .due : .off
        wake()
    }

    /// Streams that were opened with the old credentials may still be refused.
    func credentialsChanged() {
        if case .off = listener { return }
        endListener()
        listener = .due
        wake()
    }

    func endListener() {
        reading?.cancel()
        generation += 1
        received = []
        page = nil
        unreadableIds = []
        handedOut = 0
        hasSnapshot = false
        snapshotEnd = nil
        fetches = [:]
        changedIds = []
        deletedIds = []
    }

    func pull(behind position: Int64) async throws -> SyncPage {
        if let page, page.start == position { return page }
        page = nil
        unreadableIds = []
        if position < handedOut {
            // The store knows less than was returned: it was restored, or requests everything again.
            endListener()
            if case .on = listener { listener = .due }
        }
        let deadline = ContinuousClock.now + Self.longestPull
        while true {
            switch listener {
            case .due: try await begin()
            case .failed(let error):
                listener = .due
                throw error
            case .off, .on: break
            }
            try Task.checkCancellation()
            // Listening was started again meanwhile.
            if case .due = listener { continue }
            let isComplete = hasSnapshot && snapshotEnd == nil && received.isEmpty
            guard next().isEmpty, !isComplete, ContinuousClock.now < deadline else { break }
            await wait(until: deadline)
        }
        let indices = next()
        var changes: [RemoteChange] = []
        var unreadable: [DocumentID: String] = [:]
        for change in indices.map({ received[$0].change }) {
            let document = DocumentID(entity: store.table.entity, id: change.id)
            do {
                changes.append(try remoteChange(change, of: document, at: position + 1 + Int64(changes.count)))
                unreadable[document] = nil
            } catch let error as StorageError where error.code == .invalidValue {
                // Without a position: at one, writes of the document would be rebased onto a state that isn't known.
                unreadable[document] = error.message
            }
        }
        for index in indices.reversed() { received.remove(at: index) }
        let page = SyncPage(
            start: position, end: position + Int64(changes.count), changes: changes, unreadable: unreadable)
        // A page without changes would be returned again for ever.
        if changes.isEmpty { unreadableIds = unreadable.keys.map(\.id) } else { self.page = page }
        handedOut = page.end
        if hasSnapshot, snapshotEnd == nil, !received.contains(where: \.isSnapshot) { snapshotEnd = page.end }
        return page
    }

    /// The indices in ``received`` of the next page's changes. Excludes documents that are being written, and
    /// everything after a collection that is still being fetched.
    private func next() -> [Int] {
        if case .on = listener, !hasSnapshot { return [] }
        let written = unsaved.values.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        var indices: [Int] = []
        for (index, received) in received.enumerated() where !written.contains(received.change.id) {
            indices.append(index)
            if indices.count == Self.pageSize { break }
        }
        return indices
    }

    private func remoteChange(
        _ change: RemoteAccess<T>.Change, of document: DocumentID, at position: Int64
    ) throws -> RemoteChange {
        let operation = try change.fields.map { WriteOperation.save($0.storageValues) } ?? .delete
        return RemoteChange(position: position, document: document, operation: operation, ownOrigin: nil)
    }

    /// Opens the streams, and then fetches the collection: concurrent changes arrive twice rather than never.
    private func begin() async throws {
        endListener()
        let number = generation
        let query = query
        let changes = try await listen(query?.builder)
        guard number == generation else { return }
        reading = Task { [weak self] in
            do {
                for try await change in changes { try await self?.receive(change, number) }
                await self?.fail(RemoteError.unavailable(), number)
            } catch {
                await self?.fail(error, number)
            }
        }
        listener = .on
        guard access.getAll != nil else {
            // Without a document there is nothing to wait for; with one, it is the first element of the stream.
            hasSnapshot = document == nil
            return
        }
        do {
            sentWhileFetching = []
            let documents = try await getAll(query?.builder)
            let ids = Set(documents.map(\.id))
            let others = try await store.ids().filter { !ids.contains($0) }
            // Documents that a query doesn't match may still exist. Nothing is known about documents outside the query.
            let left = try await store.ids(of: others, foundBy: query?.evaluation)
            guard number == generation else { return }
            let gone = query == nil ? others : []
            let changes: [RemoteAccess<T>.Change] = documents.map { .saved($0) } + gone.map { .deleted(id: $0) }
            let snapshot = changes.filter { !sentWhileFetching.contains($0.id) }
            received.insert(contentsOf: snapshot.map { Received(change: $0, isSnapshot: true) }, at: 0)
            hasSnapshot = true
            // Another pull may wait for it: this one may have been cancelled.
            wake()
            for id in sentWhileFetching { refetch(id) }
            refetch(left)
        } catch {
            if number == generation {
                endListener()
                listener = .due
                wake()
            }
            throw error
        }
    }

    @MainActor private func listen(
        _ query: QueryBuilder?
    ) throws -> AsyncThrowingStream<RemoteAccess<T>.Change, any Error> {
        try checkPath()
        return access.listen(document, query)
    }

    @MainActor func getAll(_ query: QueryBuilder?) async throws -> [T] {
        try checkPath()
        let documents =
            if let query { try await access.find?(query) ?? [] } else { try await access.getAll?() ?? [] }
        // Belongs to another account, if another user has signed in meanwhile.
        try checkPath()
        return documents
    }

    /// Adds a document as if the remote had reported it. While listening, streams may have reported something newer, so
    /// the document is fetched once more.
    ///
    /// - Returns: The generation of listeners with which it is dropped.
    /// - Throws: `invalid-value` if it can't be written as JSON: no page would contain it.
    func add(_ document: T) throws -> Int {
        _ = try DocumentFields(encoding: document)
        if case .on = listener { refetch(document.id) } else { take(.saved(document)) }
        return generation
    }

    /// Whether a change of a document was received after a position, or the document is being fetched.
    func holds(_ id: String, behind position: Int64) -> Bool {
        if fetches[id] != nil || received.contains(where: { $0.change.id == id }) { return true }
        return page?.changes.contains { $0.position > position && $0.document.id == id } ?? false
    }

    func take(_ change: RemoteAccess<T>.Change) {
        received.append(Received(change: change, isSnapshot: false))
        wake()
    }

    func didSavePush(through number: Int64) {
        var sent: [String: [DocumentOperation]] = [:]
        for (first, operations) in unsaved.sorted(by: { $0.key < $1.key }) where first <= number {
            sent.merge(operations) { $0 + $1 }
            unsaved[first] = nil
        }
        // The last received state of each written document.
        let last = Dictionary(
            received.filter { sent[$0.change.id] != nil }.map { ($0.change.id, $0.change) }, uniquingKeysWith: { $1 })
        let doubtful = last.filter { id, change in
            do {
                let received = try change.fields
                var expected = received
                for operation in sent[id] ?? [] { operation.apply(to: &expected) }
                return expected != received
            } catch {
                // It can't be written as JSON, so it can't be compared.
                return true
            }
        }
        received.removeAll { doubtful[$0.change.id] != nil }
        wake()
        for id in doubtful.keys { refetch(id) }
    }

    /// Fetches a document, and once more if a change arrives meanwhile: that may be newer or older.
    func refetch(_ id: String) {
        guard fetches.updateValue(.again, forKey: id) == nil else { return }
        let number = generation
        Task { await fetchOnce(id, number) }
    }

    /// Fetches documents one after another: there may be many.
    func refetch(_ ids: [String]) {
        let number = generation
        guard !ids.isEmpty else { return }
        Task {
            for id in ids where number == generation && fetches[id] == nil {
                fetches[id] = .again
                await fetchOnce(id, number)
            }
        }
    }

    private func fetchOnce(_ id: String, _ number: Int) async {
        do {
            while number == generation, fetches[id] == .again {
                fetches[id] = .underWay
                let change = try await fetch(id)
                guard number == generation, fetches[id] == .underWay else { continue }
                fetches[id] = nil
                take(change)
            }
        } catch {
            fail(error, number)
        }
    }

    @MainActor func fetch(_ id: String) async throws -> RemoteAccess<T>.Change {
        try checkPath()
        do {
            let document = try await access.get(id)
            try checkPath()
            return .saved(document)
        } catch RemoteError.notFound {
            return .deleted(id: id)
        }
    }

    /// Whether a change is of a document that a query matches, or that the store has or is about to have; also if it
    /// can't be written as JSON, and so can't be compared.
    private func concerns(_ change: RemoteAccess<T>.Change, _ query: QueryEvaluation) async throws -> Bool {
        do {
            if case .saved(let document) = change, query.matches(try JSONValue(encoding: document)) { return true }
        } catch let error as StorageError where error.code == .invalidValue {
            return true
        }
        let id = change.id
        // Asked first, because what isn't held any more is in the store.
        if holds(id, behind: 0) || unreadableIds.contains(id) { return true }
        if let page, page.unreadable.keys.contains(where: { $0.id == id }) { return true }
        return try await store.contains(id)
    }

    private func receive(_ change: RemoteAccess<T>.Change, _ number: Int) async throws {
        guard number == generation, await access.path() == store.path, number == generation else { return }
        guard access.getAll != nil else {
            received.append(Received(change: change, isSnapshot: !hasSnapshot))
            hasSnapshot = true
            return wake()
        }
        if let query, try await !concerns(change, query.evaluation) { return }
        guard number == generation else { return }
        let isDoubtful: Bool
        switch change {
        case .saved:
            changedIds.insert(change.id)
            isDoubtful = deletedIds.contains(change.id)
        case .deleted:
            deletedIds.insert(change.id)
            // A document that stops matching the query may be reported as deleted.
            isDoubtful = changedIds.contains(change.id) || query != nil
        }
        if isDoubtful || fetches[change.id] != nil { refetch(change.id) } else { take(change) }
    }

    private func fail(_ error: any Error, _ number: Int) {
        guard number == generation else { return }
        if case .off = listener {
            // There is no listener: a task that waits for the document fetches it again.
            endListener()
        } else {
            reading?.cancel()
            listener = .failed(error)
        }
        wake()
    }
}
