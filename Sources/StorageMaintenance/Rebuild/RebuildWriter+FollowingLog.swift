internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// Letting shadow tables follow the log.
extension RebuildWriter {
    /// Lets the shadows that are furthest behind follow the log for a while, until `isEnough` says so.
    ///
    /// - Returns: How far each shadow is, and where the log ends.
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
        // Those further ahead wait until the others have come up with them; then all go on together.
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
        // A column that was added later stands with its default for rows from before.
        return Fold.Target(
            entity: entity, table: shadow.table, column: { quoted($0.stored) }, tombstones: "storage_shadow_tombstone",
            hasTombstones: shadow.position > 0)
    }

    /// Lets the shadows of a window's tables take it in, all of it or nothing.
    ///
    /// - Parameter check: Called now and then; may throw to stop.
    /// - Returns: Where the log ends.
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
                // Last: a page that is changed early and late is written early and late, and where a page comes again
                // in a transaction SQLite reads all that it wrote behind it once more.
                for shadow in shadows { try shadow.save(writer) }
                return writer.head.position
            }
        }
    }

    /// Brings what was committed into the file, so that what comes next needn't wait behind it.
    ///
    /// While a reader looks at an older state, commits can't do it themselves, and the write-ahead log grows.
    func checkpoint() {
        // A reader that is in the way makes it do less, not fail.
        sqlite3_wal_checkpoint_v2(writer.database.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}
