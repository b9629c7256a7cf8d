package import GRDB
internal import StorageCore
package import StorageLog
internal import Synchronization

extension ProjectionRuntime {
    /// Reserves the file in which a projection is rebuilt.
    ///
    /// - Returns: false where another rebuild of the same projection has it; then ``endFolding(_:)`` isn't called.
    package func beginFolding(_ name: String) -> Bool { state.withLock { $0.folding.insert(name).inserted } }

    package func endFolding(_ name: String) { state.withLock { _ = $0.folding.remove(name) } }

    func onWriter<Value: Sendable>(
        _ name: String,
        _ body:
            @escaping @Sendable (UserProjections, UserProjections.Slot, LogWriter, GRDB.Database) throws -> Value
    ) async throws -> Value {
        try await engine.withWriter { writer, db in
            guard let projections = writer.userProjections, let slot = projections.slot(name) else {
                throw StorageError.noProjection(name)
            }
            // Noted here, on the writer, so that the progress is never older than what another call has just changed.
            defer { self.note(name, try? Checkpoint.load(name, writer.database)) }
            return try body(projections, slot, writer, db)
        }
    }

    package func status() async throws -> [ProjectionStatus] {
        try await engine.read { db in
            let connection = try db.connection
            return try ProjectionOverview.load(connection)
        }
    }

    package func pause(_ name: String) async throws {
        try await onWriter(name) { projections, slot, writer, db in
            _ = try projections.change(name, on: writer, db) { if $0.state == .running { $0.state = .paused } }
            slot.isInStep = false
        }
    }

    package func resume(_ name: String) async throws {
        try await goOn(name) { projections, slot, writer, db in
            _ = try projections.change(name, on: writer, db) { $0.resume() }
        }
    }

    package func reset(_ name: String) async throws {
        try await goOn(name) { projections, slot, writer, db in
            // If it throws, nothing was changed, and the projection goes on.
            try projections.reset(slot, on: writer, db)
            slot.isInStep = false
            slot.hasDeadLetters = false
        }
    }

    /// Changes a projection on the writer, and lets it continue from there: an inline one at once.
    package func goOn(
        _ name: String,
        after body:
            @escaping @Sendable (UserProjections, UserProjections.Slot, LogWriter, GRDB.Database) throws -> Void
    ) async throws {
        let checkpoint = try await onWriter(name) { projections, slot, writer, db in
            try body(projections, slot, writer, db)
            if slot.registration.mode == .inline, !slot.isInStep {
                // On the writer, so that the commit that comes next is reported after it.
                self.notify(name, try Self.catchUpNow(slot, of: projections, on: writer, db))
            }
            return try Checkpoint.load(name, writer.database) ?? Checkpoint()
        }
        try checkRunning(name, checkpoint)
        wake(name)
    }

    package func deadLetters(_ name: String?) async throws -> [DeadLetter] {
        try await engine.read { db in
            let connection = try db.connection
            return try DeadLetterReader.list(of: name, connection)
        }
    }

    package func replayDeadLetters(_ name: String) async throws -> Int {
        try await onWriter(name) { projections, slot, writer, db in
            let (applied, emitted) = try projections.replayDeadLetters(slot, on: writer, db)
            self.notify(name, emitted)
            return applied
        }
    }

    func wake(_ name: String) { state.withLock { _ = $0.followers[name]?.wake.yield() } }

    func checkRunning(_ name: String, _ checkpoint: Checkpoint) throws {
        guard checkpoint.state != .running else { return }
        throw StorageError(
            .projectionFailed,
            "The projection \(name) is stalled at @\(checkpoint.position): \(checkpoint.error ?? "paused").",
            remedy: "Correct it, then resume it again.")
    }

    /// Waits until every projection has applied a position.
    ///
    /// - Throws: `projection-failed` if one of them is stalled before it.
    package func wait(for names: [String], through position: Int64) async throws {
        for name in names where registrations[name] == nil { throw StorageError.noProjection(name) }
        guard registrations.isEmpty || !engine.configuration.isReadOnly else {
            throw StorageError(
                .readOnly,
                "The store was opened read-only: its projections run in the process that writes.",
                remedy: "Wait in that process, or compare the position in `storage.projections.status()`.")
        }
        try await checkInStep(names.filter { registrations[$0]?.mode == .inline }, through: position)
        let names = names.isEmpty ? registrations.values.filter { $0.mode == .async }.map(\.name) : names
        while true {
            try Task.checkCancellation()
            let (generation, progress, isStopped) = state.withLock { ($0.generation, $0.progress, $0.isStopped) }
            var isBehind = false
            for name in names where registrations[name]?.mode == .async {
                let reached = progress[name] ?? Progress(position: 0)
                if reached.position >= position { continue }
                if isStopped { throw StorageError.closed() }
                if let stallReason = reached.stallReason {
                    throw StorageError(
                        .projectionFailed, "The projection \(name) is stalled at @\(reached.position): \(stallReason)",
                        remedy: "See `storage.projections.status()`, correct the cause, then resume it.")
                }
                isBehind = true
            }
            guard isBehind else { return }
            await change(after: generation)
        }
    }

    /// Inline projections have applied every commit, unless they are stalled.
    private func checkInStep(_ names: [String], through position: Int64) async throws {
        guard !names.isEmpty else { return }
        try await engine.read { db in
            let connection = try db.connection
            for name in names {
                guard let checkpoint = try Checkpoint.load(name, connection), checkpoint.state != .running,
                    checkpoint.position < position
                else { continue }
                try self.checkRunning(name, checkpoint)
            }
        }
    }

    /// Waits until every projection that isn't stalled has applied a position.
    package func waitForRunning(through position: Int64) async throws {
        for registration in registrations.values where registration.mode == .async {
            do {
                try await wait(for: [registration.name], through: position)
            } catch let error as StorageError where error.code == .projectionFailed {
                continue
            }
        }
    }

    /// Returns when anything has changed since, or the task is cancelled.
    func change(after generation: Int) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    guard state.generation == generation, !Task.isCancelled else { return true }
                    state.waiting[waiter] = continuation
                    return false
                }
                if isLate { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: waiter) }?.resume()
        }
    }
}

extension Checkpoint {
    mutating func fail(_ failure: ProjectionBatchError) {
        state = .failed
        let known = StorageError.wrapping(failure.cause)
        error = (known as? StorageError)?.message ?? "\(known)"
        failed = failure.positions.lowerBound
    }

    package mutating func resume() {
        state = .running
        error = nil
        failed = nil
    }
}

extension LogWriter {
    package var userProjections: UserProjections? {
        for case let projections as UserProjections in projections { return projections }
        return nil
    }
}
