internal import CSQLite
internal import StorageCore
internal import StorageLog

/// A projection of users' that was folded in a temporary database, ready to be copied into the store.
///
/// Sound as `@unchecked Sendable`: it is made by one thread and handed to the writer's, which alone has it then.
final class FoldedProjection: @unchecked Sendable {
    let position: Int64
    private let scratch: ScratchProjection

    /// - Parameter progress: Called with the position that has been reached.
    /// - Throws: `misuse` where rows couldn't be copied as they are.
    init(
        _ projection: any Projection, of source: OpaquePointer, upcasts: [String: Upcast],
        progress: (Int64) throws -> Void
    ) throws {
        scratch = try ScratchProjection(projection, of: source, catalog: Catalog.load(source), upcasts: upcasts)
        guard try !scratch.tables.contains(where: \.isVirtual) && !scratch.connected(Self.numbersRows) else {
            throw StorageError(.misuse, "The tables of \(projection.name) can't be copied.", remedy: "")
        }
        let head = try LogReader(source).head().position
        while scratch.position < head {
            try scratch.catchUp(to: min(scratch.position + 10_000, head))
            try progress(scratch.position)
        }
        position = head
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
        try scratch.connected { source in
            let copy = TableCopy(from: source, to: database)
            for table in scratch.tables {
                try Statement(database, "DELETE FROM \(quoted(table.name))").execute()
                try copy.run(table.name, columns: table.columns)
            }
        }
    }
}
