internal import Foundation
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// What an engine shows: documents as they are in the store, and its status.
extension SyncController {
    /// The documents that may be shown: none of an account that isn't signed in any more.
    var shown: [T] {
        if shownPath == nil { showCached() }
        // Always read, so that observers are notified.
        let documents = documents
        return access.path() == shownPath ? documents : []
    }

    func shownDocument(_ id: String) -> T? {
        let documents = shown
        return insertionPoint(of: id, in: documents).flatMap { $0.isThere ? documents[$0.index] : nil }
    }

    /// Reads the stored documents of the account that is signed in, on the calling thread. There may be no store yet.
    func showCached() {
        guard persists, clearings == 0, let path = access.path(),
            container != nil || PersistenceContainer.configured != nil, let storage = try? storage()
        else { return }
        do {
            let cached = try SyncStore<T>(storage: storage, manager: key, path: path).shownNow(extent)
            guard let cached else { return }
            extent = cached.extent
            documents = cached.documents
            shownPath = path
        } catch {
            status.connection = .failed((error as? StorageError)?.message ?? "\(error)")
        }
    }

    /// Shows another document.
    func focus(on id: String?) {
        guard extent != .document(id) else { return }
        extent = .document(id)
        documents = []
    }

    func show(_ scope: SyncScope<T>) async throws {
        let table = scope.store.table
        let storage = scope.store.storage
        let head = storage.head
        if shownPath != scope.path {
            documents = []
            shownPath = scope.path
        }
        try await reread(scope)
        guard isCurrent(scope) else { return }
        feed?.cancel()
        feed = Task { [weak self] in
            var delay = RetryDelay()
            var position = head
            while !Task.isCancelled {
                do {
                    let changes = storage.changes(
                        since: .position(position), matching: LogQuery(tables: [table.entity]))
                    for try await change in changes {
                        let ids = Set(change.events.compactMap { table.id($0.key).map(ExactText.init) })
                        try await self?.refresh(ids.map(\.text), in: scope)
                        self?.logReceived(change, in: scope)
                        position = change.events.last?.position ?? position
                        delay = RetryDelay()
                    }
                    return
                } catch {
                    if let error = error as? StorageError, error.code == .closed { return }
                    self?.note(error)
                    // Documents that were to be read then are read again.
                    guard (try? await Task.sleep(for: .seconds(delay.next()))) != nil else { return }
                }
            }
        }
    }

    private func logReceived(_ change: CommitChanges, in scope: SyncScope<T>) {
        guard logger != nil, scope.store.isReceived(change.commit.metadata) else { return }
        for event in change.events where event.position > loadedPosition {
            guard let id = scope.store.table.id(event.key), extent == .all || extent == .document(id) else { continue }
            log(
                event.operation == .delete
                    ? .documentDeleted(key: key, documentId: id) : .documentUpdated(key: key, documentId: id))
        }
    }

    /// Reads until the result is at least as recent as anything shown meanwhile, because nothing would report the difference later.
    ///
    /// - Returns: nil if something else is to be shown meanwhile.
    private func latest<Documents>(
        of scope: SyncScope<T>, _ read: (Extent) async throws -> (documents: Documents, head: Int64)
    ) async throws -> (documents: Documents, head: Int64)? {
        let extent = extent
        while true {
            let found = try await read(extent)
            guard isCurrent(scope), self.extent == extent, clearings == 0 else { return nil }
            guard found.head >= shownPosition else { continue }
            shownPosition = found.head
            return found
        }
    }

    func reread(_ scope: SyncScope<T>) async throws {
        guard let (documents, head) = try await latest(of: scope, { try await scope.store.shown($0) }) else { return }
        self.documents = documents
        unread = []
        loadedPosition = head
        reportUserProperties()
    }

    /// Passes the user properties of the followed document to the logger, once for each state of it.
    private func reportUserProperties() {
        guard let logger, case .document = extent, let document = documents.first,
            let json = try? DocumentFields(encoding: document).json, userProperties?.json != json
        else { return }
        logger.addUserProperties(dict: document.eventParameters, isHighPriority: userProperties?.id != document.id)
        userProperties = (document.id, json)
    }

    /// Shows what was committed, even if the caller's task is cancelled.
    func showCommitted(_ read: @escaping @MainActor () async throws -> Void) async {
        await Task {
            do { try await read() } catch { note(error) }
        }.value
    }

    func note(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        var status = status
        status.lastError = (error as? StorageError)?.message ?? "\(error)"
        show(status)
    }

    /// Shows some documents as they are now. A row that can't be read in two attempts keeps what is shown of it until the next refresh.
    func refresh(_ ids: [String], in scope: SyncScope<T>) async throws {
        try await read(ids, in: scope)
        if !unread.isEmpty { try await read([], in: scope) }
    }

    /// Reads some documents, and those that couldn't be read before.
    private func read(_ ids: [String], in scope: SyncScope<T>) async throws {
        let ids = Set(ids.map(ExactText.init)).union(unread).map(\.text)
        let wanted = if case .document(let id) = extent { ids.filter { $0 == id } } else { ids }
        guard !wanted.isEmpty else { return }
        guard let (read, _) = try await latest(of: scope, { _ in try await scope.store.shown(wanted) }) else { return }
        let found = Set(read.map { ExactText($0.id) })
        unread = unread.union(wanted.map(ExactText.init)).subtracting(found)
        var changed = documents
        for (id, document) in read {
            let match = insertionPoint(of: id, in: changed)
            switch (match?.isThere ?? false, document) {
            case (true, let document?): changed[match?.index ?? 0] = document
            case (true, nil): changed.remove(at: match?.index ?? 0)
            case (false, let document?): changed.insert(document, at: match?.index ?? 0)
            case (false, nil): break
            }
        }
        documents = changed
        reportUserProperties()
    }

    /// The index of a document, or where to insert it: documents are sorted by the bytes of their ids.
    private func insertionPoint(of id: String, in documents: [T]) -> (index: Int, isThere: Bool)? {
        let index = documents.partitioningIndex { !$0.id.utf8.lexicographicallyPrecedes(id.utf8) }
        return (index, index < documents.count && documents[index].id.utf8.elementsEqual(id.utf8))
    }

    func show(_ new: NumberedStatus, of scope: SyncScope<T>) {
        guard isCurrent(scope), new.number > statusNumber else { return }
        statusNumber = new.number
        show(new.status)
    }

    func show(_ status: SyncStatus) {
        var new = status
        new.missingCapabilities = access.missing
        update(to: new)
    }

    func update(to new: SyncStatus) {
        for event in statusEvents.events(from: status, to: new) { log(event) }
        guard new != status else { return }
        status = new
        for listener in statusListeners.values { listener.yield(new) }
    }

    func statuses() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        statusListeners[id] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.statusListeners[id] = nil }
        }
        continuation.yield(status)
        return stream
    }
}
