internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageLog

/// A projection of users' that was folded in a temporary database, ready to be copied into the store.
///
/// Isolation: `Sendable`; it holds nothing of the connection that was read.
final class FoldedProjection: Sendable {
    let position: Int64
    private let database: DatabaseQueue
    private let tables: [ScratchProjection.Table]

    /// - Parameters:
    ///   - head: The last position that is taken in.
    ///   - progress: Called with the position that has been reached.
    /// - Throws: `misuse` where rows couldn't be copied as they are.
    init(
        _ projection: any Projection, of source: OpaquePointer, upcasts: [String: Upcast], through head: Int64,
        progress: (Int64) throws -> Void
    ) throws {
        // Its statements on `source` must be gone before somebody else reads there, so it doesn't outlive this.
        let scratch = try ScratchProjection(projection, of: source, catalog: Catalog.load(source), upcasts: upcasts)
        guard try !scratch.tables.contains(where: \.isVirtual) && !scratch.connected(Self.numbersRows) else {
            throw StorageError(
                .misuse, "The tables of \(projection.name) can't be copied.",
                remedy: "They are made again in the store itself.")
        }
        while scratch.position < head {
            try scratch.catchUp(to: min(scratch.position + 10_000, head))
            try progress(scratch.position)
        }
        position = head
        database = scratch.database
        tables = scratch.tables
    }

    private static func numbersRows(_ database: OpaquePointer) throws -> Bool {
        try Statement(database, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").step()
    }

    /// Fills the tables of the same names, which hold what `prepare` has put there.
    func copy(to database: OpaquePointer) throws {
        // Triggers of the projection's own have done their work already.
        storage_set_triggers_enabled(database, 0)
        defer { storage_set_triggers_enabled(database, 1) }
        // Tables may refer to each other in any order.
        try Statement(database, "PRAGMA defer_foreign_keys = ON").execute()
        try self.database.writeWithoutTransaction { db in
            guard let source = db.sqliteConnection else { throw StorageError.closed() }
            let copy = TableCopy(from: source, to: database)
            for table in tables {
                try Statement(database, "DELETE FROM \(quoted(table.name))").execute()
                // Other tables may hold the numbers of rows, also where no column does.
                try copy.run(table.name, columns: [table.rowid].compactMap { $0 } + table.columns)
            }
        }
    }
}
