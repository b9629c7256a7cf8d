internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Letting shadow tables follow the log.
extension RebuildWriter {
    /// Applies the log to the shadows that are furthest behind, until `isEnough` returns true.
    ///
    /// - Returns: The position of each shadow, and the end of the log.
    func advance(
        _ entities: Set<UInt32>, until isEnough: (_ events: Int) -> Bool
    ) throws -> (positions: [UInt32: Int64], head: Int64) {
        try writer.maintenance(db, changesSchema: false) {
            let shadows = try follow(try shadows(entities), until: isEnough)
            return (Dictionary(uniqueKeysWithValues: shadows.map { ($0.entity, $0.position) }), writer.head.position)
        }
    }

    func follow(_ shadows: [ShadowTable], until isEnough: (_ events: Int) -> Bool) throws -> [ShadowTable] {
        let head = writer.head.position
        guard let low = shadows.map(\.position).min(), low < head else { return shadows }
        // Shadows further ahead wait until the others have reached them; then all continue together.
        let limit = shadows.map(\.position).filter { $0 > low }.min() ?? head
        let targets = try shadows.filter { $0.position == low }.map(target)
        let fold = Fold(writer.database, targets: targets, checks: false)
        var reached = limit
        var events = 0
        try LogReader(writer.database).forEachBatch(in: low + 1...limit, where: fold.wants) { batch in
            try fold.apply(batch, in: low + 1...limit)
            events += batch.count
            guard isEnough(events), batch.header.last < limit else { return true }
            reached = batch.header.last
            return false
        }
        return try shadows.map { shadow in
            guard shadow.position == low else { return shadow }
            var shadow = shadow
            shadow.position = reached
            try shadow.save(writer)
            return shadow
        }
    }

    func target(_ shadow: ShadowTable) throws -> Fold.Target {
        guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
        // A column that was added later has its default in earlier rows.
        return Fold.Target(
            entity: entity, table: shadow.table, column: { quoted($0.stored) }, tombstones: "storage_shadow_tombstone",
            hasTombstones: shadow.position > 0)
    }

    /// Applies a window to the shadows of its tables, as a whole or not at all.
    ///
    /// - Parameter check: Called from time to time; may throw to stop.
    /// - Returns: The end of the log.
    func take(_ window: NetWindow, check: () throws -> Void) throws -> Int64 {
        try passing {
            try writer.maintenance(db, changesSchema: false) {
                var shadows = try shadows(Set(window.tables.map(\.entity.id)))
                for (index, table) in window.tables.enumerated() {
                    guard let known = shadows.firstIndex(where: { $0.entity == table.entity.id }),
                        shadows[known].position == window.first - 1,
                        writer.catalog.entity(id: table.entity.id) == table.entity
                    else { throw Outdated() }
                    try window.apply(index, to: target(shadows[known]), in: writer.database, check: check)
                    shadows[known].position = window.last
                }
                // Last: a page that is changed both early and late is written twice, and when a page is written again
                // in a transaction, SQLite reads everything that it wrote after it.
                for shadow in shadows { try shadow.save(writer) }
                return writer.head.position
            }
        }
    }

    /// Records that shadows have the rows of a position.
    ///
    /// - Returns: The position of each shadow.
    func reach(_ position: Int64, _ entities: Set<UInt32>) throws -> [UInt32: Int64] {
        try writer.maintenance(db, changesSchema: false) {
            for var shadow in try shadows(entities) {
                shadow.position = position
                try shadow.save(writer)
            }
            return Dictionary(uniqueKeysWithValues: entities.map { ($0, position) })
        }
    }

    /// Checkpoints the write-ahead log.
    ///
    /// While a reader uses an older state, commits can't do that themselves, and the write-ahead log grows.
    func checkpoint() {
        // A blocking reader makes it copy less, not fail.
        sqlite3_wal_checkpoint_v2(writer.database.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}
