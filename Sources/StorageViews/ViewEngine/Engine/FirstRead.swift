internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// The first read of a node beside the engine.
///
/// Sound as `@unchecked Sendable`: its creator awaits ``perform(on:overlaying:since:)``, which alone accesses it meanwhile.
final class FirstRead<Node: LiveNode>: @unchecked Sendable {
    let node: Node
    /// The schema of the state that was read; before that, the one that the engine knows.
    private(set) var schema: KnownSchema
    private(set) var position: Int64 = 0
    /// Whether the node was read.
    private(set) var hasRead = false

    init(node: Node, schema: KnownSchema) { (self.node, self.schema) = (node, schema) }

    /// - Parameters:
    ///   - rows: What is read as if it were stored.
    ///   - known: Nothing is read if no row of the node's tables has changed after this position.
    func perform(
        on source: any FeedSource, overlaying rows: [OptimisticRow] = [], since known: Int64? = nil
    ) async throws {
        try await source.readBeside(overlaying: rows) { state in
            if try !self.schema.isCurrent(state) { self.schema = try KnownSchema(state) }
            self.position = state.position
            if let known, try !self.hasChanges(since: known, state) { return }
            try self.read(state)
        }
    }

    /// Whether a row of the node's tables, or the schema, has changed after a position.
    private func hasChanges(since known: Int64, _ state: FeedState) throws -> Bool {
        guard state.position > known else { return false }
        let names = schema.addingReadTables(to: node.interests).map(\.entity)
        let entities = Set(names.compactMap { schema.entity(named: $0)?.id } + [CatalogEntity.catalog.id])
        return try LogReader(state.log).hasEvents(in: known + 1...state.position, of: entities.contains)
    }

    /// Reads a state that the consumer already has.
    ///
    /// - Returns: Whether that state is available, and what the node shows of it is what the consumer has.
    func perform(on source: any FeedSource, at known: KnownState) async throws -> Bool {
        guard node.isDeterminedByRows else { return false }
        let interests = node.interests
        let isRead = try await source.readPast(at: known, of: { try KnownSchema($0).addingReadTables(to: interests) }) {
            state in
            self.schema = try KnownSchema(state)
            try self.read(state)
            _ = try self.node.takeUpdate(at: state.position)
        }
        return isRead && node.isDeterminedByRows
    }

    private func read(_ state: FeedState) throws {
        let connection = try state.rows.connection
        let layouts = try schema.addingReadTables(to: node.interests).map { interest in
            guard let entity = schema.entity(named: interest.entity) else {
                throw StorageError.noEntity(interest.entity)
            }
            return RowLayout(entity, in: connection, fullText: schema.fullText(of: entity.id))
        }
        try node.bind(toAll: layouts)
        try node.readAgain(Snapshot(state, isUrgent: true))
        (position, hasRead) = (state.position, true)
    }
}
