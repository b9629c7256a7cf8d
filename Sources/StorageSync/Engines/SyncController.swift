internal import Foundation
internal import Observation
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageRecords

/// The common part of both engines: finds the store, follows the remote's path from account to account, and publishes
/// the documents.
@MainActor @Observable
final class SyncController<T: DataSyncModelProtocol> {
    typealias Extent = SyncStore<T>.Extent

    @ObservationIgnored let key: String
    @ObservationIgnored let access: RemoteAccess<T>
    @ObservationIgnored let logger: (any DataSyncLogger)?
    @ObservationIgnored private let persists: Bool
    @ObservationIgnored private let resolution: ConflictResolution<T>
    @ObservationIgnored private var container: PersistenceContainer?
    @ObservationIgnored private(set) var extent: Extent

    /// By id.
    private(set) var documents: [T] = []
    private(set) var status = SyncStatus()
    /// The log position as of which the shown documents were read.
    @ObservationIgnored private var shownPosition: Int64 = 0
    /// The number of clearings of the store that are still to be done. Until then, nothing is shown.
    @ObservationIgnored private var clearings = 0
    /// The path whose documents are shown; nil before they were read.
    @ObservationIgnored private var shownPath: String?
    @ObservationIgnored private var scope: SyncScope<T>?
    /// The number of the last shown status of the scope's driver.
    @ObservationIgnored private var statusNumber = 0
    /// The last change of the scope; changes run one after another.
    @ObservationIgnored private var change: Task<Void, Never>?
    @ObservationIgnored private var changeNumber = 0
    @ObservationIgnored private var feed: Task<Void, Never>?
    @ObservationIgnored private var statusFeed: Task<Void, Never>?
    /// Changes up to this position aren't logged one by one, because all documents were fetched.
    @ObservationIgnored private var loadedPosition: Int64 = 0
    @ObservationIgnored private var statusEvents: SyncStatusEvents
    /// Whether the remote's missing capabilities were logged.
    @ObservationIgnored private var hasLoggedLimits = false
    /// The followed document as last reported to the logger, as JSON.
    @ObservationIgnored private var userProperties: (id: String, json: String)?
    @ObservationIgnored private var statusListeners: [UUID: AsyncStream<SyncStatus>.Continuation] = [:]

    init(
        _ access: RemoteAccess<T>, key: String, persists: Bool, extent: Extent, resolution: ConflictResolution<T>,
        logger: (any DataSyncLogger)?
    ) {
        self.access = access
        self.key = key
        self.persists = persists
        self.extent = extent
        self.resolution = resolution
        self.logger = logger
        statusEvents = SyncStatusEvents(key: key)
        container = persists ? PersistenceContainer.current : nil
        status.missingCapabilities = access.missing
        showCached()
    }

    deinit {
        feed?.cancel()
        statusFeed?.cancel()
        if let driver = scope?.driver { Task { await driver.stop() } }
        for listener in statusListeners.values { listener.finish() }
    }

    func log(_ event: SyncEvent) { logger?.trackEvent(event: event) }
}

// MARK: Store

extension SyncController {
    private func storage() throws -> Storage {
        if let container { return container.storage }
        let found = persists ? PersistenceContainer.current ?? .configured : try .inMemory()
        guard let found else {
            throw StorageError(
                .invalidArgument, "The sync engine \"\(key)\" has no store.",
                remedy:
                    "Call PersistenceContainer.configure(container) at program start, create the engine inside withDatabaseContainer, or pass enableLocalPersistence: false."
            )
        }
        container = found
        return found.storage
    }

    /// The path of the account that is signed in.
    func path() throws -> String {
        guard let path = access.path() else {
            throw StorageError(
                .invalidArgument, "The remote of the sync engine \"\(key)\" has no path: no user is signed in.",
                remedy: "Use the engine once its collectionPath returns a path.")
        }
        return path
    }

    /// Asks the remote. Its answer counts only if the account is still the same.
    ///
    /// - Throws: `CancellationError` if somebody else has signed in.
    func ask<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        let path = access.path()
        let answer = try await body()
        guard access.path() == path else { throw CancellationError() }
        return answer
    }

    /// The scope of the account that is signed in; opens it if needed.
    func open() async throws -> SyncScope<T> {
        let path = try path()
        if let scope, scope.path == path, change == nil {
            if status.connection == .unauthorized { await scope.driver.take(.authorized) }
            return scope
        }
        let storage = try storage()
        return try await runExclusively { try await $0.opened(path, in: storage) }
    }

    /// The scope of a path; opens it if needed. Part of a change.
    private func opened(_ path: String, of document: String? = nil, in storage: Storage) async throws -> SyncScope<T> {
        if let scope, scope.path == path { return scope }
        await close()
        return try await open(path, of: document, in: storage)
    }

    /// Runs changes of the scope one after another.
    private func runExclusively<Result: Sendable>(
        _ body: @escaping @MainActor (SyncController) async throws -> Result
    ) async throws -> Result {
        try await enqueue(body).value
    }

    /// - Returns: The change, which runs after those requested before this call.
    @discardableResult
    private func enqueue<Result: Sendable>(
        _ body: @escaping @MainActor (SyncController) async throws -> Result
    ) -> Task<Result, any Error> {
        let before = change
        let task = Task {
            await before?.value
            return try await body(self)
        }
        let number = changeNumber + 1
        changeNumber = number
        change = Task {
            _ = await task.result
            if changeNumber == number { change = nil }
        }
        return task
    }

    /// - Parameter document: The document to listen to; nil for the previous one, if any.
    private func open(_ path: String, of document: String?, in storage: Storage) async throws -> SyncScope<T> {
        if !hasLoggedLimits, !access.missing.isEmpty { log(.remoteLimited(key: key, missing: access.missing)) }
        hasLoggedLimits = true
        let (statuses, continuation) = AsyncStream.makeStream(
            of: NumberedStatus.self, bufferingPolicy: .bufferingNewest(16))
        let scope = try await SyncEngines.shared.open(key, in: storage, by: self) { push in
            let shown: String? = if case .document(let id) = extent { id } else { nil }
            let scope = try await SyncScope.open(
                path, of: access, in: storage, manager: key, document: document ?? shown, behind: push,
                resolution: resolution, publish: { continuation.yield($0) })
            self.scope = scope
            return scope
        }
        // Another engine may have replaced it.
        guard isCurrent(scope) else { return scope }
        statusNumber = 0
        statusFeed = Task { [weak self] in
            for await status in statuses { self?.show(status, of: scope) }
        }
        do {
            let listened = try await scope.store.load()?.row.document
            if extent == .document(nil), clearings == 0 { extent = .document(listened) }
            try await show(scope)
        } catch {
            // Nothing would report later changes.
            await close()
            throw error
        }
        // Whoever opened it knows what is pending.
        show(await scope.driver.statusOfCommits(), of: scope)
        return scope
    }

    var isOpen: Bool { scope != nil }

    private func isCurrent(_ scope: SyncScope<T>) -> Bool { self.scope?.driver === scope.driver }

    /// Stops sending and receiving; everything stays in the store.
    func close() async {
        feed?.cancel()
        statusFeed?.cancel()
        guard let scope else { return }
        self.scope = nil
        await scope.driver.stop()
        documents = []
        shownPath = nil
        show(SyncStatus())
        if access.path() != scope.path { log(.pathChanged(key: key)) }
    }
}

// MARK: Showing

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
    private func showCached() {
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

    private func show(_ scope: SyncScope<T>) async throws {
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

    /// Reads until the result is at least as recent as what was read and shown meanwhile: nothing would report the
    /// difference later.
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

    private func reread(_ scope: SyncScope<T>) async throws {
        guard let (documents, head) = try await latest(of: scope, { try await scope.store.shown($0) }) else { return }
        self.documents = documents
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

    private func note(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        var status = status
        status.lastError = (error as? StorageError)?.message ?? "\(error)"
        show(status)
    }

    /// Reads some documents again.
    func refresh(_ ids: [String], in scope: SyncScope<T>) async throws {
        let wanted = if case .document(let id) = extent { ids.filter { $0 == id } } else { ids }
        guard !wanted.isEmpty else { return }
        guard let (read, _) = try await latest(of: scope, { _ in try await scope.store.shown(wanted) }) else { return }
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

    private func show(_ status: SyncStatus) {
        var new = status
        new.missingCapabilities = access.missing
        update(to: new)
    }

    private func update(to new: SyncStatus) {
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

// MARK: Listening

extension SyncController {
    func listen(to document: String? = nil, query: QueryBuilder? = nil) async throws {
        do {
            try await beginListening(to: document, query: query)
        } catch {
            log(.listenerFail(key: key, documentId: document, error: error))
            throw error
        }
    }

    private func beginListening(to document: String?, query: QueryBuilder?) async throws {
        let isOther = document.map { extent != .document($0) } ?? false
        if let document, isOther { focus(on: document) }
        log(.listenerStart(key: key, documentId: document))
        let (path, storage) = (try path(), try storage())
        // Also if nothing could be read, or another account has signed in.
        defer { if loadedPosition == .max { loadedPosition = storage.head } }
        // One change, so that a later stop runs after it.
        let scope = try await runExclusively { controller in
            // Another document needs another scope: its id is stored with it.
            if isOther { await controller.close() }
            let scope = try await controller.opened(path, of: document, in: storage)
            switch scope.remote {
            case .service(let remote): try await remote.setQuery(query)
            // A hub's collection is followed as a whole.
            case .hub: _ = try query.map { try QueryEvaluation(listening: $0) }
            }
            if document == nil { controller.log(.bulkLoadStart(key: controller.key)) }
            controller.loadedPosition = .max
            if controller.status.connection == .unauthorized { await scope.driver.take(.authorized) }
            await scope.driver.startListening()
            return scope
        }
        await scope.driver.waitForSnapshot()
        // The received documents and the status are shown when this returns.
        do {
            try await reread(scope)
        } catch {
            if document == nil { log(.bulkLoadFail(key: key, error: error)) }
            throw error
        }
        show(await scope.driver.status, of: scope)
        if let failure = status.failure {
            if document == nil { log(.bulkLoadFail(key: key, error: failure)) }
            return log(.listenerFail(key: key, documentId: document, error: failure))
        }
        switch document {
        case let id? where documents.isEmpty: log(.listenerEmpty(key: key, documentId: id))
        case let id?: log(.listenerSuccess(key: key, documentId: id))
        case nil:
            log(.bulkLoadSuccess(key: key, count: documents.count))
            log(.listenerSuccess(key: key, count: documents.count))
        }
    }

    func stopListening(clearCaches: Bool) {
        if clearCaches {
            documents = []
            clearings += 1
            if case .document = extent { extent = .document(nil) }
        }
        log(.listenerStopped(key: key))
        enqueue { controller in
            do {
                var hasCleared = clearCaches
                if let scope = controller.scope {
                    await scope.driver.stopListening()
                    // Between two steps of the driver: sending continues afterwards.
                    if clearCaches { try await scope.driver.clear() }
                } else if clearCaches {
                    hasCleared = try await controller.clearStored()
                }
                if hasCleared { controller.log(.cachesCleared(key: controller.key)) }
            } catch {
                controller.note(error)
            }
            if clearCaches { await controller.endClearing() }
        }
    }

    private func endClearing() async {
        clearings -= 1
        guard let scope else { return }
        await showCommitted { try await self.reread(scope) }
    }

    /// Clears what an earlier process has stored, even of an account that isn't signed in any more.
    ///
    /// - Returns: Whether anything was stored.
    private func clearStored() async throws -> Bool {
        guard persists, let storage = try? storage() else { return false }
        guard !SyncEngines.shared.isUsed(key, in: storage, byOtherThan: self) else {
            // This engine shows nothing, and the stored documents belong to the other one.
            shownPath = access.path()
            return false
        }
        return try await SyncStore<T>.clearActive(in: storage, manager: key, resolution: resolution)
    }
}

// MARK: Giving up

extension SyncController {
    func discardPending() async throws {
        let scope = try await open()
        try await scope.driver.discardPending()
        await showCommitted { try await self.reread(scope) }
        show(await scope.driver.status, of: scope)
    }

    func startOver() async throws {
        let scope = try await open()
        try await runExclusively { controller -> Void in
            guard controller.scope?.driver === scope.driver else { return }
            let hasLostWrites = await scope.driver.haltReason == .remoteWentBack
            await controller.close()
            try await scope.store.startOver(hasLostWrites: hasLostWrites)
            _ = try await controller.open(scope.path, of: nil, in: scope.store.storage)
        }
    }
}
