internal import StorageCore

/// Sends writes and resolves their conflicts with changes by others.
extension ServiceRemote {
    /// Sends a batch after the previous one, which may still be running although its answer is no longer awaited.
    func push(_ origins: [Int64], from first: Int64, behind position: Int64) async throws -> SyncAnswer {
        let before = lastPush
        let push = Task {
            _ = await before?.result
            try Task.checkCancellation()
            return try await sendAll(origins, from: first, behind: position)
        }
        lastPush = push
        return try await withTaskCancellationHandler {
            try await push.value
        } onCancel: {
            push.cancel()
        }
    }

    /// Sends writes one after another, as many as time allows. A write that fails temporarily holds back only its
    /// document, unless the next document's write fails too: then the remote can't be reached.
    private func sendAll(_ origins: [Int64], from first: Int64, behind position: Int64) async throws -> SyncAnswer {
        let deadline = ContinuousClock.now + Self.longestPush
        let (writes, recent) = try await store.outgoingWrites(of: origins, since: since, rows: rows)
        rows = recent
        let problems = writes.compactMapValues(\.problem)
        guard problems.isEmpty else { return .unsent(problems) }
        var results: [NumberedResult] = []
        var blocked: Set<String> = []
        var failures = 0
        var failure: (any Error)?
        for (index, origin) in origins.enumerated() {
            // The rest is no longer awaited, and another driver may have sent later writes of the same documents.
            try Task.checkCancellation()
            let write =
                writes[origin]
                ?? OutgoingWrite(
                    document: "", operation: .nothing, isConditional: false, base: 0, key: "", problem: nil)
            let id = write.document
            var result = WriteResult.blocked
            if failures < 2, !blocked.contains(id), index == 0 || ContinuousClock.now < deadline {
                do {
                    result = try await attempt(write, origin, in: first, behind: position)
                    failures = 0
                    if result == .blocked {
                        failure = RemoteError.conflict("another client has changed the document \"\(id)\"")
                    }
                } catch is CancellationError where Task.isCancelled {
                    throw CancellationError()
                } catch {
                    failure = error
                    failures = self.failure(error) == .unauthorized ? 2 : failures + 1
                }
                if case .applied = result {} else { blocked.insert(id) }
            }
            results.append(NumberedResult(number: first + Int64(index), result: result))
        }
        if let failure, results.allSatisfy({ $0.result == .blocked }) { throw failure }
        return .pushed(results)
    }

    /// Sends a write, unless it is conditional and its document has changed.
    ///
    /// - Parameters:
    ///   - number: The number of the push that contains the write.
    ///   - position: How much was received from the service.
    /// - Returns: `blocked` if the write is to be sent again, rebased onto the current document.
    private func attempt(
        _ write: OutgoingWrite, _ origin: Int64, in number: Int64, behind position: Int64
    ) async throws -> WriteResult {
        if write.isConditional, let rejection = try await conflict(of: write, in: number, behind: position) {
            return .rejected(rejection)
        }
        try Task.checkCancellation()
        sentWhileFetching.insert(write.document)
        unsaved[number, default: [:]][write.document, default: []].append(write.operation)
        do {
            let result = try await send(write.operation, to: write.document, as: remoteWrite(write, origin))
            rebases[origin] = nil
            return result
        } catch RemoteError.conflict(let reason) {
            return try await rebase(write, of: origin, in: number, behind: position, because: reason)
        }
    }

    /// Fetches a document and compares it with the known state.
    ///
    /// - Parameters:
    ///   - number: The number of the push that contains the write.
    ///   - position: How much was received from the service.
    /// - Returns: Why the write isn't to be sent; nil if no other writer has changed the document. A changed document is added to what was received.
    private func conflict(
        of write: OutgoingWrite, in number: Int64, behind position: Int64
    ) async throws -> WriteRejection? {
        let (known, changePosition) = try await store.remoteDocument(write.document, since: since)
        // Received after the write was numbered.
        if changePosition > write.base { return known == nil ? .deleted : .conflict(at: changePosition) }
        switch try await compare(known, with: write, in: number) {
        // If the document is what the write makes of it, the write was accepted before and its answer got lost.
        case .known, .written: return nil
        case .changed(.deleted): return .deleted
        case .changed, .unreadable: return .conflict(at: position + 1)
        }
    }

    /// How a service's document compares with the known one.
    private enum Comparison {
        /// The known document.
        case known
        /// The known document with the write applied.
        case written
        case changed(RemoteAccess<T>.Change)
        /// It can't be written as JSON, so it is no state that this store knows.
        case unreadable
    }

    /// Fetches a document. A change by someone else is added to what was received.
    private func compare(
        _ document: DocumentFields?, with write: OutgoingWrite, in number: Int64
    ) async throws -> Comparison {
        var known = document
        for operation in unsaved[number]?[write.document] ?? [] { operation.apply(to: &known) }
        var wanted = known
        write.operation.apply(to: &wanted)
        let change = try await fetch(write.document)
        var comparison = Comparison.changed(change)
        do {
            let fields = try change.fields
            if fields == known { return .known }
            if fields == wanted { return .written }
        } catch let error as StorageError where error.code == .invalidValue {
            comparison = .unreadable
        }
        if case .on = listener { refetch(write.document) } else { take(change) }
        return comparison
    }

    /// Decides about a write that the service has refused because its document has changed.
    private func rebase(
        _ write: OutgoingWrite, of origin: Int64, in number: Int64, behind position: Int64, because reason: String
    ) async throws -> WriteResult {
        rebases[origin, default: 0] += 1
        // The refused write had no effect, so received changes of its document needn't wait for it.
        if let operations = unsaved[number]?[write.document] {
            unsaved[number]?[write.document] = operations.count > 1 ? Array(operations.dropLast()) : nil
        }
        let known = try await store.remoteDocument(write.document, since: since).fields
        switch try await compare(known, with: write, in: number) {
        case .known: return .rejected(.invalid(reason))
        case .written: return .applied(at: 0)
        case .changed(.deleted) where write.isConditional: return .rejected(.deleted)
        case .changed where write.isConditional, .unreadable where write.isConditional:
            return .rejected(.conflict(at: position + 1))
        // Whether another writer has changed the document again can't be seen.
        case .unreadable where rebases[origin, default: 0] > 1: return .rejected(.invalid(reason))
        case .changed, .unreadable: return .blocked
        }
    }

    private func remoteWrite(_ write: OutgoingWrite, _ origin: Int64) -> RemoteWrite {
        let rebases = rebases[origin].map { ".c\($0)" } ?? ""
        return RemoteWrite(idempotencyKey: write.key + rebases, isConditional: write.isConditional)
    }

    private func send(
        _ operation: DocumentOperation, to id: String, as write: RemoteWrite
    ) async throws -> WriteResult {
        do {
            try await RemoteWrite.$current.withValue(write) { try await send(operation, to: id) }
            return .applied(at: 0)
        } catch RemoteError.notFound {
            return .rejected(.missing)
        } catch RemoteError.rejected(let reason) {
            return .rejected(.invalid(reason))
        } catch let error as StorageError where error.code == .invalidValue {
            // The stored fields don't form such a document, and retrying won't help.
            return .rejected(.invalid(error.message))
        }
    }

    private func send(_ operation: DocumentOperation, to id: String) async throws {
        switch operation {
        case .save(let fields): try await save(fields.document())
        case .patch(let patch) where access.capabilities.contains(.partialUpdates):
            let data = try JSONValue.fields(patch)
            try await call { try await $0.update(id, data) }
        case .patch(let patch):
            var fields = try DocumentFields(encoding: try await call { try await $0.get(id) })
            fields.apply(patch)
            try await save(fields.document())
        case .delete:
            do { try await call { try await $0.delete(id) } } catch RemoteError.notFound {}
        case .nothing: break
        }
    }

    private func save(_ document: T) async throws { try await call { try await $0.save(document) } }

    /// Calls the service without decoding or encoding anything. Nothing is awaited between the check of its path and
    /// the call, so the call uses the path that was checked.
    @MainActor private func call<Result: Sendable>(
        _ body: @MainActor (RemoteAccess<T>) async throws -> Result
    ) async throws -> Result {
        try checkPath()
        return try await body(access)
    }
}
