internal import StorageCore

/// The sequences of values that a node's updates result in.
///
/// Isolation: `Sendable`; each sequence has a node of its own.
struct NodeValues<Node: SteppedNode, State: Sendable, Value: Sendable>: Sendable {
    private let engine: SubscriptionEngine
    private let makeNode: @Sendable () throws -> Node
    private let start: State
    private let transform: LiveReader<Node, State, Value>.Transform

    /// - Parameters:
    ///   - start: What the first update is applied to.
    ///   - transform: Applies an update, and returns the value; nil if the update doesn't fit.
    init(
        _ engine: SubscriptionEngine, _ makeNode: @escaping @Sendable () throws -> Node, from start: State,
        _ transform: @escaping LiveReader<Node, State, Value>.Transform
    ) { (self.engine, self.makeNode, self.start, self.transform) = (engine, makeNode, start, transform) }

    /// The value, and the value after each update.
    func snapshots(onError: @escaping @Sendable (StorageError) -> Void) -> LiveSequence<Value> {
        LiveSequence {
            let reader = LiveReader(engine, makeNode, from: start, onError: onError, transform)
            return { () async throws(StorageError) -> Value? in try await reader.next() }
        }
    }

    /// The same, with the changes that aren't stored yet.
    func optimistic(onError: @escaping @Sendable (StorageError) -> Void) -> LiveSequence<OptimisticValue<Value>> {
        LiveSequence {
            let reader = LiveReader(engine, makeNode, from: start, onError: onError) { update, state in
                try transform(update, &state).map { (value: $0, position: update.position) }
            }
            let source = LiveValueSource<Value>(
                next: { () async throws(StorageError) -> PositionedValue<Value>? in try await reader.next() },
                read: { rows, position in try await read(rows, since: position) },
                onCommit: { engine.source.onCommit($0) })
            // A query that can't be answered fails when it is followed. A condition in SQL may read any table.
            let interests = (try? makeNode())?.interests
            let isKnown = interests?.allSatisfy(\.predicate.sqlReadingTables.isEmpty) ?? false
            let tables = isKnown ? interests.map { Set($0.map(\.entity)) } : nil
            let optimistic = OptimisticReader(source, engine.optimisticChanges, of: tables, onError: onError)
            return { () async throws(StorageError) -> OptimisticValue<Value>? in try await optimistic.next() }
        }
    }

    /// Reads the current state as if rows were stored.
    ///
    /// - Returns: No value if nothing that the query reads has changed after a position.
    private func read(
        _ rows: [OptimisticRow], since position: Int64?
    ) async throws -> (value: Value?, position: Int64) {
        let read = FirstRead(node: try makeNode(), schema: KnownSchema())
        try await read.perform(on: engine.source, overlaying: rows, since: position)
        guard read.hasRead else { return (nil, read.position) }
        var state = start
        guard let update = try read.node.takeUpdate(at: read.position) ?? read.node.wholeUpdate(),
            let value = try transform(update, &state)
        else { throw StaleNode() }
        return (value, read.position)
    }
}
