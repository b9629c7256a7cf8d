internal import StorageCore
internal import StorageLog
internal import StorageRouting

// Nodes whose first value is read beside the engine, which continues its steps meanwhile.

extension SubscriptionEngine {
    /// How often a first read is begun again because more was committed meanwhile than can be applied.
    private static let readLimit = 3

    /// Adds a node that reads its first value on a separate connection, and then applies what was committed meanwhile.
    ///
    /// - Parameters:
    ///   - makeNode: Creates the node, once for each attempt.
    ///   - known: The state that the consumer already has: it gets the steps from that state if possible, and otherwise
    ///     everything.
    /// - Throws: What `makeNode` and the read throw; the node isn't added then.
    package func addReadingBeside<Node: LiveNode>(
        _ makeNode: @Sendable () throws -> Node, _ pendingUpdate: PendingUpdate<Node.Update>,
        since known: KnownState? = nil
    ) async throws -> LiveHandle {
        guard source.readsBeside else { return try add(makeNode(), pendingUpdate) }
        if let known, let handle = try await resume(makeNode, pendingUpdate, at: known) { return handle }
        for _ in 0..<Self.readLimit {
            if case .closed = phase { throw StorageError.closed() }
            let read = FirstRead(node: try makeNode(), schema: schema)
            try await read.perform(on: source)
            // The engine may have taken steps, and may have been closed.
            if let handle = try adopt(read, pendingUpdate) { return handle }
        }
        return try add(makeNode(), pendingUpdate)
    }

    /// Adds a node that reads the state that its consumer has.
    ///
    /// - Returns: Nil if that state can't be read, whatever the reason, or if too much was committed since.
    private func resume<Node: LiveNode>(
        _ makeNode: @Sendable () throws -> Node, _ pendingUpdate: PendingUpdate<Node.Update>, at known: KnownState
    ) async throws -> LiveHandle? {
        let read = FirstRead(node: try makeNode(), schema: schema)
        do {
            return try await read.perform(on: source, at: known) ? adopt(read, pendingUpdate) : nil
        } catch let error as StorageError where error.code == .closed {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            // The past stays as it is, so retrying wouldn't help. What the current state lacks too, its read reports.
            return nil
        }
    }

    /// Adds a node that has read an earlier state.
    ///
    /// - Returns: Nil if too much was committed since.
    private func adopt<Node: LiveNode>(
        _ read: FirstRead<Node>, _ pendingUpdate: PendingUpdate<Node.Update>
    ) throws -> LiveHandle? {
        do {
            return try add(read.node, pendingUpdate, isBound: true) { registrations, layouts, snapshot in
                for layout in layouts where !schema.hasSame(layout.entity, as: read.schema) { throw OutrunRead() }
                try apply(from: read.position, to: read.node, registrations, snapshot)
            }
        } catch is OutrunRead {
            return nil
        }
    }

    /// Applies what was committed after `position`, and is part of the step, to a node that isn't known yet.
    private func apply(
        from position: Int64, to node: any LiveNode, _ registrations: [Registration], _ snapshot: Snapshot
    ) throws {
        guard position < snapshot.position else { return }
        var batches: [EventBatch] = []
        // The other nodes have finished the step, so its folded changes aren't needed any more.
        snapshot.forgetItems()
        let unread = CommitInbox.Part.unread(position + 1...snapshot.position)
        let log = LogReader(try snapshot.rows.connection)
        guard try fold([unread], of: log, in: snapshot, keeping: &batches) == nil else { throw OutrunRead() }
        // The changes point into the batches.
        try withExtendedLifetime(batches) {
            let routed = commitFilter.withRouter { $0.route(changes, rows: snapshot.current) }
            do {
                for change in routed {
                    guard let found = registrations.first(where: { $0.token == change.token }) else { continue }
                    try apply(change, to: node, by: found.interest, in: snapshot)
                }
                // Here, as a node may keep changes until its step ends.
                try node.settle(snapshot)
            } catch is StaleNode {
                throw OutrunRead()
            }
        }
    }
}

/// A node whose first read must be done again.
private struct OutrunRead: Error {}
