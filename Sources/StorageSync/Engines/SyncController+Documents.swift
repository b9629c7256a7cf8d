internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Reads of single documents, and writes.
extension SyncController {
    /// A stored document.
    func cached(_ id: String) async throws -> T? { try await cached(id, in: try await open()) }

    private func cached(_ id: String, in scope: SyncScope<T>) async throws -> T? {
        try await scope.store.document(id)
    }

    func fetch(_ id: String, _ behavior: FetchBehavior) async throws -> T {
        if behavior == .cachedOrFetch, let document = try await cached(id) { return document }
        log(.getDocumentStart(key: key, documentId: id))
        do {
            _ = try path()
            let document = try await ask { try await access.get(id) }
            log(.getDocumentSuccess(key: key, documentId: id))
            return document
        } catch {
            log(.getDocumentFail(key: key, documentId: id, error: error))
            throw error
        }
    }

    func save(_ document: T, expecting expected: SyncPrecondition<T>) async throws -> SyncReceipt {
        log(.saveStart(key: key, documentId: document.id))
        do {
            let scope = try await open()
            let receipt = try await write(document.id, in: scope, expecting: expected) { table, tx in
                // What can't be written as JSON can't be sent.
                _ = try DocumentFields(encoding: document)
                try table.save(document, tx)
            }
            log(.saveSuccess(key: key, documentId: document.id))
            return receipt
        } catch {
            log(.saveFail(key: key, documentId: document.id, error: error))
            throw error
        }
    }

    /// Changes some fields. A document that isn't in the store is fetched first.
    func update(
        _ id: String, _ data: [String: any DMCodableSendable], expecting expected: SyncPrecondition<T>
    ) async throws -> SyncReceipt {
        log(.updateStart(key: key, documentId: id))
        do {
            let patch = try data.mapValues { try JSONText.of($0) }
            let scope = try await open()
            try await make(id, in: scope)
            let receipt = try await write(id, in: scope, expecting: expected) { table, tx in
                guard let old = try table.get(id, tx.database) else { throw StorageError.noDocument(id) }
                try table.save(try old.changed(by: patch), tx)
            }
            log(.updateSuccess(key: key, documentId: id))
            return receipt
        } catch {
            log(.updateFail(key: key, documentId: id, error: error))
            throw error
        }
    }

    func delete(_ id: String, expecting expected: SyncPrecondition<T>) async throws -> SyncReceipt? {
        log(.deleteStart(key: key, documentId: id))
        do {
            let scope = try await open()
            do {
                try await make(id, in: scope)
            } catch let error as StorageError where error.code == .notFound { return nil }
            let receipt = try await write(id, in: scope, expecting: expected) { try $0.delete(id, $1) }
            log(.deleteSuccess(key: key, documentId: id))
            return receipt
        } catch {
            log(.deleteFail(key: key, documentId: id, error: error))
            throw error
        }
    }

    /// Ensures that a document is in the store: a change is an event of its row.
    private func make(_ id: String, in scope: SyncScope<T>) async throws {
        guard try await cached(id, in: scope) == nil else { return }
        switch scope.remote {
        case .service(let remote): try await make(id, from: remote, in: scope)
        case .hub(let remote): try await make(id, from: remote, in: scope)
        }
    }

    private func make(_ id: String, from remote: HubRemote<T>, in scope: SyncScope<T>) async throws {
        try await existing(id) { try await remote.fetch($0) }
        defer { Task { await remote.forget(id) } }
        while true {
            try Task.checkCancellation()
            let pages = await scope.driver.pageCount
            // Checked first: once the document has arrived, it is in the store.
            let isComing = await remote.isComing(id)
            if try await cached(id, in: scope) != nil { return }
            try await checkReadable(id, in: scope)
            // Deleted here, or meanwhile.
            guard isComing else { throw StorageError.noDocument(id) }
            try await scope.driver.waitForPage(after: pages)
        }
    }

    private func make(_ id: String, from remote: ServiceRemote<T>, in scope: SyncScope<T>) async throws {
        var listening = try await add(id, to: remote, in: scope)
        while true {
            try Task.checkCancellation()
            let pages = await scope.driver.pageCount
            let isHeld = await remote.holds(id, behind: scope.driver.position)
            if try await cached(id, in: scope) != nil { return }
            if isHeld {
                try await scope.driver.waitForPage(after: pages)
            } else if await remote.generation == listening {
                try await checkReadable(id, in: scope)
                // Deleted here, or meanwhile.
                throw StorageError.noDocument(id)
            } else {
                // Dropped with everything else that was received, since listening was restarted.
                listening = try await add(id, to: remote, in: scope)
            }
        }
    }

    private func add(_ id: String, to remote: ServiceRemote<T>, in scope: SyncScope<T>) async throws -> Int {
        let document = try await found(id, in: scope)
        do {
            return try await remote.add(document)
        } catch let error as StorageError where error.code == .invalidValue {
            throw StorageError.unreadable(id, because: error.message)
        }
    }

    /// - Throws: `invalid-value` if the remote's document can't be stored as a row.
    private func checkReadable(_ id: String, in scope: SyncScope<T>) async throws {
        if let reason = try await scope.store.unreadable(id) { throw StorageError.unreadable(id, because: reason) }
    }

    /// The remote's version of a document of a scope's account.
    private func found(_ id: String, in scope: SyncScope<T>) async throws -> T {
        let document = try await existing(id) { try await fetch($0, .alwaysFetch) }
        guard access.path() == scope.path else { throw StorageError.otherAccount(id) }
        return document
    }

    private func existing<Found: Sendable>(
        _ id: String, _ find: (String) async throws -> Found
    ) async throws -> Found {
        do {
            return try await find(id)
        } catch RemoteError.notFound {
            throw StorageError.noDocument(id)
        }
    }

    private func write(
        _ id: String, in scope: SyncScope<T>, expecting expected: SyncPrecondition<T>,
        _ body: @escaping @Sendable (DocumentTable<T>, WriteTransaction) throws -> Void
    ) async throws -> SyncReceipt {
        // The decision was based on this account's document.
        guard access.path() == scope.path else { throw StorageError.otherAccount(id) }
        let store = scope.store
        let table = store.table
        let metadata = CommitMetadata(
            actor: CommitContext.actor, app: CommitContext.app, correlation: CommitContext.correlation,
            attributes: expected.attributes)
        let receipt = try await store.storage.commit(metadata) { tx in
            guard try store.isActive(in: tx.database) else { throw StorageError.otherAccount(id) }
            if expected.isStated { try expected.check(try table.get(id, tx.database), id: id) }
            try body(table, tx)
        }
        // Once this returns, a reader of the shown documents sees the change.
        await showCommitted { try await self.refresh([id], in: scope) }
        show(await scope.driver.statusOfCommits(), of: scope)
        let driver = scope.driver
        return SyncReceipt(
            local: receipt,
            wait: { [weak self] positions in
                let result = await Result { try await driver.waitForWrites(at: positions) }
                await self?.show(driver.status, of: scope)
                try result.get()
            })
    }

    func take(_ input: SyncInput) async throws { await (try await open()).driver.take(input) }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

extension DataSyncModelProtocol {
    /// The document with other values in some fields.
    ///
    /// - Throws: `invalid-value` for an unknown field, a value of another type, another id, or a result that can't be
    ///   written as JSON.
    fileprivate func changed(by patch: [String: String]) throws -> Self {
        var fields = try finiteFields(besides: patch)
        fields.apply(patch)
        let changed: Self = try fields.document()
        let kept = try DocumentFields(encoding: changed).values
        if let lost = patch.first(where: { $0.value != DocumentFields.null && kept[$0.key] == nil }) {
            throw StorageError(
                .invalidValue, "\(Self.self) has no field \"\(lost.key)\".",
                remedy: "Name fields as they are encoded: \(kept.keys.sorted().joined(separator: ", ")).")
        }
        guard changed.id == id else {
            throw StorageError(
                .invalidValue, "The id of the document \"\(id)\" can't be changed.",
                remedy: "Save the document under its new id, and delete this one.")
        }
        return changed
    }

    /// The document's fields, of which an infinity may be what a patch corrects.
    ///
    /// One that is left must be found before decoding: a type that decodes whatever there is would store something else.
    private func finiteFields(besides patch: [String: String]) throws -> DocumentFields {
        do {
            return try DocumentFields(encoding: self)
        } catch let error as StorageError where error.code == .invalidValue {
            let fields = try DocumentFields(encoding: self, allowsNonFinite: true)
            guard let left = fields.nonFiniteKeys.first(where: { patch[$0] == nil }) else { return fields }
            throw StorageError(
                .invalidValue,
                "The document \"\(id)\" can't be written as JSON: \"\(left)\" contains an infinity or NaN.",
                remedy: "Change that field too, or save the document whole.")
        }
    }
}

extension StorageError {
    fileprivate static func unreadable(_ id: String, because reason: String) -> StorageError {
        StorageError(
            .invalidValue, "The remote's document \"\(id)\" can't be stored here: \(reason)",
            remedy:
                "Save it whole, with values that the table accepts; then it can be changed or deleted. Or let the type decode what the remote has."
        )
    }

    fileprivate static func otherAccount(_ id: String) -> StorageError {
        StorageError(
            .conflict, "Another account has signed in while the document \"\(id)\" was to be written.",
            remedy: "Write it again, if it is meant for that account.")
    }
}
