internal import CSQLite
internal import StorageCore
package import StorageLog

/// Checks the log's end and the most recently changed rows before anything is appended: if the log and its tables come
/// from different states, this is where they differ first. Tables, indexes and triggers must match the log, too.
///
/// It costs decoding one segment, a look-up for each of a few rows, and two for each table. `verify` checks the rest.
package enum LogEndCheck {
    /// The most rows that are looked up, and the most segments that they are taken from.
    private static let (rows, batches) = (64, 8)

    /// - Throws: `corrupt` if a row in an entity's table isn't at the position of its last event in the log, or after its end.
    package static func run(_ database: Connection) throws {
        let reader = LogReader(database)
        let head = try reader.head()
        guard head.position > 0 else { return }
        let catalog = try Catalog.load(database)
        try ForeignSchemaChange.check(catalog, in: database)
        for entity in catalog.live { try checkLastRow(of: entity, head: head.position, database) }
        var (rowsLeft, batchesLeft) = (rows, batches)
        var followed: Set<Int64> = []
        var begun: Set<RowAddress> = []
        try reader.forEachBatch(in: 1...head.position, descending: true) { batch in
            for (row, position) in lastEvents(of: batch, catalog, followed: &followed, begun: &begun).prefix(rowsLeft) {
                rowsLeft -= 1
                let found = try reader.lastPosition(of: row.key, in: row.entity)
                guard found == position else { throw StorageError.tableBehind(row.entity, at: found, log: position) }
            }
            batchesLeft -= 1
            return rowsLeft > 0 && batchesLeft > 0
        }
    }

    /// The row with the largest rowid was mostly inserted last, so it shows whether the log has lost its end.
    private static func checkLastRow(of entity: CatalogEntity, head: Int64, _ database: Connection) throws {
        database.forgetCompiledStatements()
        guard let rowid = entity.rowidName else { return }
        let select = try PreparedStatement(
            database, "SELECT _position FROM \(quoted(entity.stored)) ORDER BY \(rowid) DESC LIMIT 1")
        guard try select.step(), select.integer(0) > head, Limits.numbers.contains(select.integer(0)) else { return }
        throw StorageError(
            .corrupt,
            "The table of \"\(entity.name)\" differs from the log: a row has position @\(select.integer(0)), and the log ends at @\(head). The log may have lost events.",
            remedy:
                "Show the difference: storagekit verify. Restore a backup; without one, make events of what the tables have: storagekit record. If only positions differ: storagekit rebuild"
        )
    }

    /// What shows that the log has lost its end: a position after it in any table of the store; nil if there is none.
    ///
    /// - Complexity: O(rows).
    static func lostEnd(in database: Connection) throws -> String? {
        if let problem = try LogCompleteness.lostEnd(in: database) { return problem }
        let head = try LogHead.load(database).position
        for entity in CatalogEntity.reserved + (try Catalog.load(database).live) {
            do {
                guard let last = try entity.lastTablePosition(in: database), last > head else { continue }
                return "it ends at @\(head), and the last change of the table \"\(entity.name)\" is @\(last)"
            } catch let error as StorageError where error.code == .corrupt {
                // What can't be read shows nothing about the log.
            }
        }
        return nil
    }

    private typealias Row = (entity: CatalogEntity, key: [StorageValue])

    /// The last events of rows in a segment, newest first: those that no later event refers to as its predecessor.
    ///
    /// - Parameters:
    ///   - followed: The events that later ones refer to.
    ///   - begun: The rows that a later insert begins, which refers to no event: another program had deleted them.
    private static func lastEvents(
        of batch: EventBatch, _ catalog: Catalog, followed: inout Set<Int64>, begun: inout Set<RowAddress>
    ) -> [(row: Row, position: Int64)] {
        batch.withView { view in
            var last: [(Row, Int64)] = []
            for index in (0..<view.count).reversed() {
                let position = batch.header.first + Int64(index)
                followed.insert(view.events[index].previous)
                let shape = view.shape(of: index)
                guard last.count < rows else { break }
                let begins = shape.isInsert && view.events[index].previous == 0
                defer { if begins { begun.insert(RowAddress(view, at: index)) } }
                guard !followed.contains(position), let entity = catalog.entity(id: shape.entity),
                    !entity.isDropped, entity.key.count == Int(shape.key_count),
                    !begun.contains(RowAddress(view, at: index))
                else { continue }
                last.append(((entity, entity.key.indices.map { view.value(view.key(of: index)[$0]) }), position))
            }
            return last
        }
    }
}

extension StorageError {
    fileprivate static func tableBehind(_ entity: CatalogEntity, at found: Int64?, log: Int64) -> StorageError {
        let state = found.map { $0 > 0 ? "has position @\($0)" : "has no position" } ?? "is missing"
        return StorageError(
            .corrupt,
            "The table of \"\(entity.name)\" differs from the log: a row \(state), and in the log its last change is @\(log).",
            remedy: "Show the difference: storagekit verify")
    }
}
