internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// Chooses the cheaper way to a table's state at a position: back from the live table, or forward from the log's beginning.
extension MaterializedSnapshot {
    /// Copies the live table and undoes the later events, or replays the earlier ones: whichever touches less.
    ///
    /// - Parameter now: The entity as the store has it now; nil if it doesn't.
    func undoOrReplay(
        _ entity: CatalogEntity, as now: CatalogEntity?, in target: Connection, from source: Connection
    ) throws {
        guard let past = recordedCatalog.entity(id: entity.id), !past.isDropped, position > 0 else { return }
        let head = try LogReader(source).head().position
        let isThere = now?.stored == entity.stored && now?.isDropped == false
        let rows = isThere ? try Self.count(entity, in: source) : 0
        if isThere, now?.columns == past.columns {
            // Copying a row costs a fraction of decoding and applying an event.
            if rows / 4 + (head - position) < position {
                try copy(entity, rows: rows, from: source, to: target)
                guard position < head else { return }
                let replay = TableReplay(target: self.target(entity), database: target, source: source)
                if try replay.undoEvents(in: position + 1...head, replaced: note(replacement:)) { return }
            }
        }
        let conversions = try conversions(of: entity, past: past)
        let olds = conversions.compactMap(\.old)
        let type = entity.isStrict && !isUnconstrained(entity) ? " ANY" : ""
        for old in olds {
            try PreparedStatement(
                target, "ALTER TABLE \(quoted(entity.stored)) ADD COLUMN \(quoted(old.stored))\(type)"
            )
            .execute()
        }
        var reading = entity
        reading.columns += olds
        let replay = TableReplay(target: self.target(reading), database: target, source: source)
        if position > rows * Self.manyVersions, NetWindow.takes([reading]) {
            try replay.applyWindows(through: position)
        } else {
            try replay.applyEvents(through: position)
        }
        for conversion in conversions { try convert(conversion, of: entity, in: target) }
    }

    private func copy(_ entity: CatalogEntity, rows: Int64, from source: Connection, to target: Connection) throws {
        // A table without the constraints may have another order of columns.
        if rows >= Self.manyRows, !isUnconstrained(entity),
            try AttachedStore.copy(entity.stored, from: source, to: target)
        {
            return
        }
        try TableCopy(from: source, to: target).run(entity.stored)
    }

    static func count(_ entity: CatalogEntity, in database: Connection) throws -> Int64 {
        let count = try PreparedStatement(database, "SELECT count(*) FROM \(quoted(entity.stored))")
        return try count.step() ? count.integer(0) : 0
    }

    /// For fewer rows no store is attached, because that opens the file and reads its schema.
    private static let manyRows: Int64 = 1_000

    /// With that many events per row, they are folded before they are written; with fewer, rows keep the order of their inserts.
    private static let manyVersions: Int64 = 4
}
