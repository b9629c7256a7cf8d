internal import CSQLite
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// Reads the status of a store's projections from the file alone.
package enum ProjectionOverview {
    /// - Parameters:
    ///   - database: A connection that sees one state of the store.
    ///   - measuresBytes: Whether to measure ``ProjectionStatus/bytes``, which reads the pages of the tables; 0
    ///     otherwise.
    package static func load(_ database: Connection, measuresBytes: Bool = true) throws -> [ProjectionStatus] {
        // The last commits may only be tags, notes or records, which projections don't apply.
        let head = try LogReader(database).taggedPosition(of: .head)
        let letters = try PreparedStatement(database, "SELECT count(*) FROM storage_dead_letter WHERE projection = ?1")
        var found: [ProjectionStatus] = []
        for index in try FullTextIndex.load(database) {
            let tables = ProjectionTables(entities: [], objects: [:], tables: [index.table] + index.shadowTables)
            found.append(
                ProjectionStatus(
                    name: index.name, version: 1, kind: "full-text", state: .running, position: head, head: head,
                    replayedThrough: 0, error: nil, failedPosition: nil, deadLetters: 0, events: 0, seconds: 0,
                    lastBatch: nil, bytes: try measuresBytes ? tables.bytes(database) : 0, tables: tables.tables))
        }
        for projection in try StoredProjection.all(in: database) {
            guard let checkpoint = try Checkpoint.load(projection.name, database) else {
                throw StorageError.corruptLog("the projection \(projection.name) has no checkpoint")
            }
            letters.bind(text: projection.name, at: 1)
            let waiting = try letters.step() ? Int(letters.integer(0)) : 0
            letters.reset()
            // An inline projection's checkpoint doesn't move for commits without events of its entities.
            let head = max(head, checkpoint.position)
            let isReset = projection.version == 0
            let position = try isUpToDate(projection, at: checkpoint, in: database) ? head : checkpoint.position
            found.append(
                ProjectionStatus(
                    name: projection.name, version: projection.version, kind: projection.kind,
                    state: isReset ? .reset : checkpoint.state, position: isReset ? 0 : position, head: head,
                    replayedThrough: checkpoint.replayed, error: checkpoint.error,
                    failedPosition: checkpoint.failed, deadLetters: waiting, events: checkpoint.events,
                    seconds: Double(checkpoint.microseconds) / 1_000_000, lastBatch: checkpoint.time,
                    bytes: try measuresBytes ? projection.tables.bytes(database) : 0,
                    tables: projection.tables.tables))
        }
        return found.sorted { $0.name < $1.name }
    }

    /// Whether nothing of an inline projection's entities lies behind its checkpoint.
    private static func isUpToDate(
        _ projection: StoredProjection, at checkpoint: Checkpoint, in database: Connection
    ) throws -> Bool {
        guard projection.kind == ProjectionMode.inline.rawValue, checkpoint.state == .running else { return false }
        let head = try LogHead.load(database).position
        guard checkpoint.position < head else { return true }
        let ids = try Catalog.load(database).entities(named: projection.tables.entities)
        var isUpToDate = true
        try LogReader(database).forEachBatch(
            in: checkpoint.position + 1...head, where: { $0.entities.contains { ids.contains($0) } }
        ) { batch in
            batch.withView { view in
                for index in 0..<view.count where batch.header.first + Int64(index) > checkpoint.position {
                    if ids.contains(view.shape(of: index).entity) { isUpToDate = false }
                }
            }
            return isUpToDate
        }
        return isUpToDate
    }
}
