internal import CSQLite
internal import Foundation
package import GRDB
internal import StorageCore
package import StorageHistory
package import StorageLog

/// A projection that is folded from a store's log in a separate database; the store is only read.
///
/// Not `Sendable`: it belongs to the thread of the connection that it reads.
package final class ScratchProjection {
    package let projection: any Projection
    /// Temporary, or a file that ``save()`` brings up to date; always inside a transaction.
    package let database: DatabaseQueue
    /// Its tables, without the shadow tables of virtual ones.
    package private(set) var tables: [Table] = []
    /// The position up to which it has applied everything.
    package private(set) var position: Int64 = 0
    private let source: Connection
    private let resolver: RowResolver
    private let catalog: Catalog
    private let entities: Set<UInt32>
    /// The identity that a resumed fold must match; nil if it can't be resumed.
    private let rules: String?
    /// Events that were added and not yet applied.
    private var queue: [RowEvent] = []
    private var changes: TableChangeRecorder?
    private static let queueLimit = 1_000

    package struct Table: Sendable {
        package let name: String
        package let columns: [String]
        /// The name of the rowid; nil if rows have none, or if columns hide all of its names.
        package let rowid: String?
        /// The primary key; all columns where there is none.
        package let key: [String]
        package let hasKey: Bool
        package let isVirtual: Bool
    }

    /// - Parameter source: A connection of the store, inside a read.
    package convenience init(
        _ projection: any Projection, of source: Connection, catalog: Catalog, upcasts: [String: Upcast] = [:]
    ) throws {
        try self.init(projection, of: source, catalog: catalog, upcasts: upcasts, in: nil, through: 0)
    }

    /// - Parameters:
    ///   - file: The file to fold it in, so that it can be resumed; nil for a temporary database.
    ///   - last: The position to reach; a saved fold beyond it is started over.
    package init(
        _ projection: any Projection, of source: Connection, catalog: Catalog, upcasts: [String: Upcast],
        in file: ProjectionRebuildFile?, through last: Int64
    ) throws {
        self.projection = projection
        self.source = source
        self.catalog = catalog
        let unknown = projection.entities.first { name in
            !catalog.entities.contains { $0.name.utf8.elementsEqual(name.utf8) }
        }
        if let unknown {
            throw StorageError(
                .notFound, "The projection \(projection.name) reads \"\(unknown)\", which is no entity.",
                remedy: StorageError.existing(catalog.live.map(\.name)))
        }
        entities = catalog.entities(named: projection.entities)
        resolver = RowResolver(
            ReadSource(source, catalog: catalog), upcasts: upcasts, isBehind: true, cache: try RowStateCache())
        var begun: (DatabaseQueue, Int64)?
        if let file {
            let rules = FoldCheckpoint.rules(of: projection, catalog)
            // A file that can't be read can't be resumed either.
            begun = try? Self.resume(file, rules, through: last, of: source)
            if begun == nil { file.create() }
            self.rules = rules
        } else {
            rules = nil
        }
        // An empty path is a temporary file, which SQLite makes only when memory runs short.
        database = try begun?.0 ?? Self.open(file?.path ?? "")
        position = begun?.1 ?? 0
        do {
            try database.writeWithoutTransaction { db in
                // Rules in SQL are untrusted, and must not access other files.
                try db.connection.refuseAttachments()
                try db.execute(sql: "BEGIN")
                if begun == nil { try projection.prepare(db) }
            }
        } catch {
            throw StorageError(
                .invalidArgument, "The projection \(projection.name) can't make its tables: \(Self.text(error))",
                remedy: "Correct its prepare.", cause: error)
        }
        tables = try connected { try Self.tables($0) }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.label = "StorageKit scratch"
        configuration.allowsUnsafeTransactions = true
        let database = try DatabaseQueue(path: path, configuration: configuration)
        guard !path.isEmpty else { return database }
        // Saved states survive a loss of power, except possibly the latest.
        try database.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        return database
    }

    /// - Returns: The saved database and its position; nil if there is none, or if it can't be resumed.
    private static func resume(
        _ file: ProjectionRebuildFile, _ rules: String, through last: Int64, of source: Connection
    ) throws -> (DatabaseQueue, Int64)? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let database = try open(file.path)
        let known = try database.writeWithoutTransaction { db in try FoldCheckpoint.load(db.connection) }
        guard let known, known.position <= last,
            try known == FoldCheckpoint(rules: rules, at: known.position, of: source)
        else { return nil }
        return (database, known.position)
    }

    /// Saves the current state, so that it can be resumed, if it is folded in a file.
    package func save() throws {
        guard let rules else { return }
        let checkpoint = try FoldCheckpoint(rules: rules, at: position, of: source)
        try connected { try checkpoint.save($0) }
        try run("COMMIT")
        try run("BEGIN")
    }

    package func wants(_ entity: UInt32) -> Bool { entities.contains(entity) }

    /// Runs `body` on the temporary database.
    package func connected<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try database.writeWithoutTransaction { db in
            let connection = try db.connection
            return try body(connection)
        }
    }

    /// Applies the next events.
    func apply(_ slice: EventSlice) throws {
        defer { position = slice.positions.upperBound }
        let own = slice.events.filter { entities.contains($0.row.entity) }
        guard !own.isEmpty else { return }
        let batch = ProjectionBatch(
            positions: slice.positions, isReplay: true, rowEvents: own, catalog: catalog, resolver: resolver)
        do {
            try database.writeWithoutTransaction { try projection.apply(batch, $0) }
        } catch {
            guard !error.isStoreOrDiskFailure else { throw error }
            throw StorageError(
                .projectionFailed,
                "The projection \(projection.name) failed to apply @\(slice.events[0].position)…@\(slice.positions.upperBound): \(Self.text(error))",
                remedy: "Correct the projection; the store wasn't changed.", cause: error)
        }
    }

    private static func text(_ error: any Error) -> String { (error as? StorageError)?.message ?? "\(error)" }

    // MARK: Watching

    /// Applies everything up to a position that lies ahead, without reporting changes.
    package func catchUp(to position: Int64) throws {
        guard position > self.position else { return }
        try CommitFeed(LogReader(source), endsWithCommits: false, wants: wants).run(self.position + 1...position) {
            slice, _ in
            try apply(slice)
        }
        self.position = position
    }

    /// Adds the next event. It is applied by ``apply(through:)``, or before where there are many.
    package func add(_ batch: EventBatch, at index: Int, commit: CommitInfo) throws {
        let position = batch.header.first + Int64(index)
        let event = batch.withView { view in
            wants(view.shape(of: index).entity) ? RowEvent(view, at: index, position: position, commit: commit) : nil
        }
        guard let event else { return }
        if queue.count >= Self.queueLimit { try applyQueue(through: position - 1) }
        queue.append(event)
    }

    /// Applies the events that were added.
    ///
    /// - Returns: The net changes of rows in its tables, one for each row.
    /// - Throws: `projection-failed`; none of the events since the last call is applied then.
    package func apply(through position: Int64) throws -> [RowDifference] {
        try applyQueue(through: position)
        self.position = position
        guard let changes else { return [] }
        self.changes = nil
        changes.stop()
        try releaseSavepoint()
        return changes.differences
    }

    private func applyQueue(through position: Int64) throws {
        guard !queue.isEmpty else { return }
        let events = queue
        queue = []
        if changes == nil {
            try beginSavepoint()
            changes = try connected { TableChangeRecorder($0, tables.filter { !$0.isVirtual }) }
        }
        let before = self.position
        do {
            try apply(EventSlice(events, at: before + 1...position))
        } catch {
            changes?.stop()
            changes = nil
            try undo(to: before)
            throw error
        }
    }

    // MARK: Taking back

    /// Sets the savepoint that ``undo(to:)`` reverts to.
    func beginSavepoint() throws { try run("SAVEPOINT storage_scratch") }

    /// Keeps the changes since the savepoint, and removes it.
    func releaseSavepoint() throws { try run("RELEASE storage_scratch") }

    /// Reverts the changes since the savepoint, and removes it.
    func undo(to position: Int64) throws {
        try run("ROLLBACK TO storage_scratch")
        try run("RELEASE storage_scratch")
        self.position = position
    }

    private func run(_ sql: String) throws {
        try database.writeWithoutTransaction { try $0.cachedStatement(sql: sql).execute() }
    }

    private static func tables(_ database: Connection) throws -> [Table] {
        let select = try PreparedStatement(
            database,
            """
            SELECT name, type, wr FROM temp.pragma_table_list
            WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY name
            """)
        var tables: [Table] = []
        while try select.step() {
            let name = select.string(0)
            if FoldCheckpoint.isOwn(name) { continue }
            let info = try PreparedStatement(database, "SELECT name, pk FROM temp.pragma_table_info(?1) ORDER BY cid")
            info.bind(text: name, at: 1)
            var columns: [String] = []
            var keys: [(ordinal: Int64, name: String)] = []
            while try info.step() {
                columns.append(info.string(0))
                if info.integer(1) > 0 { keys.append((info.integer(1), info.string(0))) }
            }
            let taken = Set(columns.map(\.folded))
            let rowid = ["rowid", "_rowid_", "oid"].first { !taken.contains($0.folded) }
            let key = keys.sorted { $0.ordinal < $1.ordinal }.map(\.name)
            tables.append(
                Table(
                    name: name, columns: columns, rowid: select.integer(2) == 0 ? rowid : nil,
                    key: key.isEmpty ? columns : key, hasKey: !key.isEmpty, isVirtual: select.string(1) == "virtual"))
        }
        return tables
    }
}
