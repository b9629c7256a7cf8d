internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The store and the account of an engine: opens their scope, one change after another, and closes it.
extension SyncController {
    func storage() throws -> Storage {
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
    /// - Throws: `CancellationError` if another user has signed in.
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
    func opened(_ path: String, of document: String? = nil, in storage: Storage) async throws -> SyncScope<T> {
        if let scope, scope.path == path { return scope }
        await close()
        return try await open(path, of: document, in: storage)
    }

    /// Runs changes of the scope one after another.
    func runExclusively<Result: Sendable>(
        _ body: @escaping @MainActor (SyncController) async throws -> Result
    ) async throws -> Result {
        try await enqueue(body).value
    }

    /// - Returns: The change, which runs after those requested before this call.
    @discardableResult
    func enqueue<Result: Sendable>(
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
    func open(_ path: String, of document: String?, in storage: Storage) async throws -> SyncScope<T> {
        if !hasLoggedLimits, !access.missing.isEmpty { log(.remoteLimited(key: key, missing: access.missing)) }
        hasLoggedLimits = true
        let (statuses, continuation) = AsyncStream.makeStream(
            of: NumberedStatus.self, bufferingPolicy: .bufferingNewest(16))
        let scope: SyncScope<T>
        do {
            scope = try await SyncEngineRegistry.shared.open(key, in: storage, by: self) { push in
                let shown: String? = if case .document(let id) = extent { id } else { nil }
                let scope = try await SyncScope.open(
                    path, of: access, in: storage, manager: key, document: document ?? shown, behind: push,
                    resolution: resolution, publish: { continuation.yield($0) })
                self.scope = scope
                return scope
            }
        } catch {
            // Listening has no other way to report it.
            note(error)
            throw error
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
            note(error)
            throw error
        }
        // Once the scope is open, the shown status includes the pending writes.
        show(await scope.driver.statusOfCommits(), of: scope)
        return scope
    }

    var isOpen: Bool { scope != nil }

    func isCurrent(_ scope: SyncScope<T>) -> Bool { self.scope?.driver === scope.driver }

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
