internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// A projection of users' that was folded in a database of its own, to be compared with the store's and copied into it.
///
/// Isolation: `Sendable`; it holds nothing of the connection that was read.
final class RebuiltProjection: Sendable {
    let position: Int64
    /// Where it was resumed; 0 where it was started over.
    let resumedAt: Int64
    /// Whether its rows can be copied as they are: not those of virtual tables, nor with numbers that are never used
    /// again.
    let isCopyable: Bool
    private let database: DatabaseQueue
    private let tables: [ScratchProjection.Table]

    /// - Parameters:
    ///   - needsCopy: Whether it is of no use where its rows can't be copied.
    ///   - head: The last position that is applied.
    ///   - file: Where it is folded; what lies there is resumed.
    ///   - progress: Called with the position that has been reached, and first with that from which it resumes.
    /// - Throws: `invalid-argument` where rows can't be copied and have to be.
    init(
        _ projection: any Projection, of source: Connection, upcasts: [String: Upcast], needsCopy: Bool,
        through head: Int64, in file: ProjectionRebuildFile?, progress: (Int64) throws -> Void
    ) throws {
        // Its statements on `source` must be gone before somebody else reads there, so it doesn't outlive this.
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

    /// What is lost where a rebuild is interrupted.
    private static let step: Int64 = 10_000

    private static func numbersRows(_ database: Connection) throws -> Bool {
        try PreparedStatement(database, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").step()
    }

    /// Compares the tables of the same names with these, apart from virtual ones.
    ///
    /// - Parameter source: A connection that sees the projection as far as this one is.
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

    /// Fills the tables of the same names, which hold what `prepare` has put there.
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
                // Other tables may hold the numbers of rows, also where no column does.
                try copy.run(table.name, columns: [table.rowid].compactMap { $0 } + table.columns)
            }
        }
    }
}
