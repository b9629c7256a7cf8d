internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Listening to the remote, and stopping it.
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
        guard !SyncEngineRegistry.shared.isUsed(key, in: storage, byOtherThan: self) else {
            // This engine shows nothing, and the stored documents belong to the other one.
            shownPath = access.path()
            return false
        }
        return try await SyncStore<T>.clearActive(in: storage, manager: key, resolution: resolution)
    }
}

/// Retrying now, and decisions about writes that the remote has refused or lost.
extension SyncController {
    /// Sends a parked write again, or discards it, or retries now.
    func decide(_ decision: SyncInput, on write: SyncStatus.ParkedWrite? = nil) async throws {
        let scope = try await open()
        try await scope.driver.decide(decision)
        if let write { await showCommitted { try await self.refresh([write.documentId], in: scope) } }
        show(await scope.driver.status, of: scope)
    }

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
