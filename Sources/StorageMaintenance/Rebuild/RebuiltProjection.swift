internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// A user-defined projection that was folded in a separate database, to be compared with the store's and copied into
/// it.
///
/// Isolation: `Sendable`; it retains nothing of the source connection.
final class RebuiltProjection: Sendable {
    let position: Int64
    /// Where it was resumed; 0 where it was started over.
    let resumedAt: Int64
    /// Whether its rows can be copied as they are: not those of virtual tables, nor those of AUTOINCREMENT tables,
    /// whose rowids are never reused.
    let isCopyable: Bool
    private let database: DatabaseQueue
    private let tables: [ScratchProjection.Table]

    /// - Parameters:
    ///   - needsCopy: Whether the rows have to be copied.
    ///   - head: The last position that is applied.
    ///   - file: The file to fold it in; an earlier fold in it is resumed.
    ///   - progress: Called with the position reached, and first with the position from which it resumes.
    /// - Throws: `invalid-argument` if rows have to be copied and can't be.
    init(
        _ projection: any Projection, of source: Connection, upcasts: [String: Upcast], needsCopy: Bool,
        through head: Int64, in file: ProjectionRebuildFile?, progress: (Int64) throws -> Void
    ) throws {
        // Its statements on `source` must be finalized before other reads there, so it doesn't outlive this call.
        let scratch = try ScratchProjection(
            projection, of: source, catalog: Catalog.load(source), upcasts: upcasts, in: file, through: head)
        isCopyable = try !scratch.tables.contains(where: \.isVirtual) && !scratch.connected(Self.numbersRows)
        guard isCopyable || !needsCopy else {
            throw StorageError(
                .invalidArgument, "The tables of \(projection.name) can't be copied.",
                remedy: "They are rebuilt in the store itself.")
        }
        resumedAt = scratch.position
        try progress(scratch.position)
        while scratch.position < head {
            try scratch.catchUp(to: min(scratch.position + Self.step, head))
            try scratch.save()
            try progress(scratch.position)
        }
        position = head
        database = scratch.database
        tables = scratch.tables
    }

    /// The number of positions that an interrupted rebuild loses at most.
    private static let step: Int64 = 10_000

    private static func numbersRows(_ database: Connection) throws -> Bool {
        try PreparedStatement(database, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").step()
    }

    /// Compares its tables with the store's tables of the same names, except for virtual ones.
    ///
    /// - Parameter source: A connection that sees the projection at the same position.
    func compare(with source: Connection, _ report: inout RebuildReport) throws {
        report.position = position
        try database.writeWithoutTransaction { db in
            let made = try db.connection
            for table in tables where !table.isVirtual {
                let names = table.key + table.columns.filter { !table.key.contains($0) }
                let sql = RowComparison.select(quoted(table.name), names.map(quoted), keys: table.key.count)
                let comparison = RowComparison(keyCount: table.key.count, names: names)
                report.rows[table.name] = try comparison.run(
                    PreparedStatement(made, sql), PreparedStatement(source, sql)
                ) { found in
                    report.add(RebuildReport.Difference(table.name, found))
                    return true
                }
            }
        }
    }

    /// Copies its rows to the tables of the same names, replacing the rows that `prepare` has inserted.
    func copy(to database: Connection) throws {
        // Triggers of the projection's own have done their work already.
        database.setTriggersEnabled(false)
        defer { database.setTriggersEnabled(true) }
        // Tables may refer to each other in any order.
        try PreparedStatement(database, "PRAGMA defer_foreign_keys = ON").execute()
        try self.database.writeWithoutTransaction { db in
            let source = try db.connection
            let copy = TableCopy(from: source, to: database)
            // All before any is filled: emptying one may empty those that refer to it.
            for table in tables { try PreparedStatement(database, "DELETE FROM \(quoted(table.name))").execute() }
            for table in tables {
                // Other tables may refer to rowids, even if they aren't a column.
                try copy.run(table.name, columns: [table.rowid].compactMap { $0 } + table.columns)
            }
        }
    }
}
