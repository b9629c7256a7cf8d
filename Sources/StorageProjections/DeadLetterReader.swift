internal import StorageCore
internal import StorageHistory
package import StorageLog

/// Reads the events that projections couldn't apply.
package enum DeadLetterReader {
    static func positions(of name: String, _ database: Connection) throws -> [Int64] {
        let select = try PreparedStatement(
            database, "SELECT position FROM storage_dead_letter WHERE projection = ?1 ORDER BY position")
        select.bind(text: name, at: 1)
        var positions: [Int64] = []
        while try select.step() { positions.append(select.integer(0)) }
        return positions
    }

    static func event(at position: Int64, _ reader: LogReader) throws -> RowEvent {
        guard let batch = try reader.batch(containing: position) else {
            throw StorageError.corruptLog("a dead letter names position @\(position), which isn't there")
        }
        let index = Int(position - batch.header.first)
        return batch.withView {
            RowEvent($0, at: index, position: position, commit: batch.commit(ofEvent: index))
        }
    }

    /// Those of one projection, or of all, in the order of the log.
    package static func list(of name: String?, _ database: Connection) throws -> [DeadLetter] {
        let catalog = try Catalog.load(database)
        let reader = LogReader(database)
        let select = try PreparedStatement(
            database,
            """
            SELECT projection, position, error, time, attempts FROM storage_dead_letter
            WHERE ?1 IS NULL OR projection = ?1 ORDER BY projection, position
            """)
        if let name { select.bind(text: name, at: 1) } else { select.bindNull(at: 1) }
        var letters: [DeadLetter] = []
        while try select.step() {
            let position = select.integer(1)
            letters.append(
                DeadLetter(
                    projection: select.string(0), position: position, error: select.string(2), time: select.integer(3),
                    attempts: Int(select.integer(4)), event: try event(at: position, reader).event(catalog)))
        }
        return letters
    }
}
