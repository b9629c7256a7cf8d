internal import CSQLite
internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// Converts an existing SQLite database into a store: a copy whose tables have a history that begins with their rows.
///
/// Isolation: `Sendable`; it works on the calling thread and on the new store's writer.
package struct DatabaseAdoption: Sendable {
    package let source: String
    /// The tables whose history begins; all that can have one where none is named.
    package let tables: [String]
    package let metadata: CommitMetadata

    private let limits: AdoptionLimits
    private let progress: @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void

    package init(
        _ source: String, tables: [String], metadata: CommitMetadata, limits: AdoptionLimits = AdoptionLimits(),
        progress: @escaping @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void = { _, _, _ in }
    ) {
        self.source = source
        self.tables = tables
        var metadata = metadata
        let name = (source as NSString).lastPathComponent
        metadata.reason = metadata.reason ?? "adopted \(name)"
        metadata.attributes[UndoStack.adopts] = name
        self.metadata = metadata
        self.limits = limits
        self.progress = progress
    }

    /// What would be done; reads every row and changes nothing.
    package func plan() throws -> AdoptionPlan {
        let file = try DatabaseFile(source, .reading)
        try file.run("BEGIN")
        return try file.with(plan)
    }

    private func plan(_ connection: Connection) throws -> AdoptionPlan {
        if try StoreFormat.isStore(connection) {
            throw StorageError(
                .conflict, "\(source) is a StorageKit store already.",
                remedy: "To record its tables that have no history, use --in-place.")
        }
        let plan = try AdoptionInspection(connection) { progress("read", Int($0), 0) }.plan(tables)
        // If tables are named, adopting only some of them would be wrong.
        if !tables.isEmpty, let table = plan.left.first { throw StorageError.notAdopted(table) }
        return plan
    }

    /// Makes the new store; the database stays as it is.
    package func run(to destination: String, replacing: Bool) async throws -> AdoptionPlan {
        try FilePlacement.check(destination, isNot: source)
        let placement = try FilePlacement(destination, replacing: replacing, like: source)
        do {
            // The source's connection mustn't be held across a suspension.
            let plan = try read(into: placement)
            let finished = try await convert(placement, plan)
            try placement.place()
            return finished
        } catch {
            placement.discard()
            throw error
        }
    }

    private func read(into placement: FilePlacement) throws -> AdoptionPlan {
        let file = try DatabaseFile(source, .reading)
        try file.run("BEGIN")
        let plan = try file.with(plan)
        try Self.copy(file, to: placement.partial) { progress("copy", $0, $1) }
        return plan
    }

    /// Converts the file itself. No other connection may have it open. Either everything is done, or the file stays as
    /// it was.
    ///
    /// The store is first created and verified in a file beside it. Then its pages replace the old ones in one SQLite
    /// transaction, so that a crash at any time leaves one or the other, and the file keeps its owner and links.
    ///
    /// - Parameter backup: The path for a copy of the original file, which a run that was killed may have saved already; nil for
    ///   none.
    package func runInPlace(backup: String?) async throws -> AdoptionPlan {
        let saved = backup.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
        if let saved { try FilePlacement.check(saved, isNot: source) }
        let kept = try saved == nil ? backup.map { try FilePlacement($0, replacing: false, like: source) } : nil
        defer { kept?.discard() }
        let work = try FilePlacement(source + ".adopting", replacing: false, like: source)
        defer { work.discard() }
        let lock = try WriterLock(store: source)
        var isStore = false
        defer {
            // Beside a database that isn't a store, the file has no use.
            if !isStore, lock.isFileNew { lock.removeFile() }
            lock.release()
        }
        // Sound as `nonisolated(unsafe)`: used by this task alone, one call at a time. After an `await` it may be on
        // another thread, which SQLite allows as long as no two threads use the connection at once.
        nonisolated(unsafe) let file = try DatabaseFile(source, .owning)
        let plan = try file.with(plan)
        for placement in [kept?.partial, work.partial].compactMap({ $0 }) {
            try Self.copy(file, to: placement) { progress("copy", $0, $1) }
        }
        if let saved { try Self.check(saved, isFile: work.partial) }
        let finished = try await convert(work, plan)
        try kept?.place()
        try DatabaseFile(work.partial, .unchanging).with { made in
            try file.with { try DatabaseFile.copy(made, into: $0) { progress("replace", $0, $1) } }
        }
        isStore = true
        return finished
    }

    /// Checks whether the original may be saved at a path: there is no file yet, or possibly a copy of it.
    ///
    /// - Throws: `conflict` if there is a file that can't be a copy.
    package func checkBackup(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        let size = try DatabaseFile(source, .reading).with { source in
            let select = try PreparedStatement(
                source, "SELECT page_count * page_size FROM temp.pragma_page_count, temp.pragma_page_size")
            return try select.step() ? select.integer(0) : 0
        }
        guard StoreBackup.size(of: path) == size else { throw StorageError.otherBackup(path) }
    }

    /// Two copies of one state have the same bytes.
    private static func check(_ saved: String, isFile copy: String) throws {
        guard FileManager.default.contentsEqual(atPath: saved, andPath: copy) else {
            throw StorageError.otherBackup(saved)
        }
    }

    private static func copy(_ file: DatabaseFile, to path: String, progress: (Int, Int) -> Void) throws {
        try file.with { source in
            try DatabaseFile(path, .making).with { try DatabaseFile.copy(source, into: $0, progress: progress) }
        }
    }
}

// MARK: A store

extension DatabaseAdoption {
    /// Whether the file is a store, whose other tables can have a history too.
    package func isStore() throws -> Bool { try DatabaseFile(source, .reading).with(StoreFormat.isStore) }

    /// Begins the history of tables of a store that have none, in one commit.
    ///
    /// - Parameter isDryRun: Whether only the plan is made.
    package func runInStore(isDryRun: Bool) async throws -> (plan: AdoptionPlan, receipt: CommitReceipt?) {
        let engine = try StorageEngine.openStore(path: source, configuration: StorageConfig())
        do {
            let plan = try await engine.read { db in
                let connection = try db.connection
                let plan = try AdoptionInspection(connection).plan(tables)
                if !tables.isEmpty, let table = plan.left.first { throw StorageError.notAdopted(table) }
                return plan
            }
            let receipt =
                isDryRun || plan.adopted.isEmpty
                ? nil
                : try await engine.commit(metadata) { writer, _ in try writer.adopt(plan.adopted.map(\.name)) }
            try await engine.close()
            return (plan, receipt)
        } catch {
            // The first error is the one to report.
            try? await engine.close()
            throw error
        }
    }
}

// MARK: Converting the copy

extension DatabaseAdoption {
    /// Converts the copy into a store, and checks the finished file against its log: the verified file itself gets the
    /// name, and not a state that depends on a write-ahead log.
    private func convert(_ placement: FilePlacement, _ plan: AdoptionPlan) async throws -> AdoptionPlan {
        let result = try await beginHistory(of: placement.partial, plan)
        try placement.checkIsWhole()
        try StoreBackup.verify(
            placement.partial, name: "new store",
            remedy: "The database may be damaged; look with: sqlite3 \(source) 'PRAGMA integrity_check'"
        ) { progress("verify", $0, $1) }
        return result
    }

    private func beginHistory(of path: String, _ plan: AdoptionPlan) async throws -> AdoptionPlan {
        var configuration = StorageConfig()
        configuration.takesOver = true
        // Nothing depends on the file before it is placed.
        configuration.durability = .normal
        let engine = try StorageEngine.openStore(path: path, configuration: configuration)
        do {
            let result = try await engine.withWriter { writer, db in try begin(plan, on: writer, db) }
            try await engine.seal()
            try await engine.close(leavingNoLog: true)
            return result
        } catch {
            // The file is thrown away, so why closing fails as well doesn't matter.
            try? await engine.close()
            throw error
        }
    }

    /// A table whose rows aren't all recorded yet.
    private struct Remaining {
        let entity: CatalogEntity
        /// Whether its rows can refer to one another, or to rows of another table whose rows can refer to them.
        let isCyclic: Bool
        /// Whether it is the first of these tables.
        let isFirst: Bool
    }

    /// The tables, the first one last.
    private func remaining(_ entities: [CatalogEntity], _ database: Connection) throws -> [Remaining] {
        try AdoptionOrder(entities.map(\.stored), database).groups.flatMap { group in
            group.tables.enumerated().map { index, table in
                Remaining(entity: entities[table], isCyclic: group.isCyclic, isFirst: index == 0)
            }
        }.reversed()
    }

    /// Records every row in the log. Many rows take several commits; the file isn't in use yet, so the states between
    /// them are never visible to others, only in the history.
    private func begin(_ plan: AdoptionPlan, on writer: LogWriter, _ db: GRDB.Database) throws -> AdoptionPlan {
        var plan = plan
        var rest: [Remaining] = []
        var isDeclared = false
        var rowid: Int64?
        repeat {
            try writer.group(db, sealing: true) {
                _ = try writer.commit(metadata) {
                    if !isDeclared {
                        let before = try SchemaUses(writer.database)
                        let entities = try plan.adopted.map { try writer.declareAdopted($0.name) }
                        rest = try remaining(entities, writer.database)
                        let after = try SchemaUses(writer.database)
                        try after.check(against: before)
                        plan.notes += after.widened(since: before).map {
                            "The view \($0) shows the column _position too."
                        }
                        isDeclared = true
                    }
                    try record(&rest, after: &rowid, on: writer)
                }
            }
            progress("adopt", Int(writer.head.position), Int(plan.rows))
        } while !rest.isEmpty
        return plan
    }

    /// Records rows in the current commit until it has enough of them, or none are left.
    private func record(_ rest: inout [Remaining], after rowid: inout Int64?, on writer: LogWriter) throws {
        var values = 0
        // Those that the commit had before the current tables whose rows can refer to one another.
        var earlierValues = 0
        while let next = rest.last {
            // A commit doesn't end among such tables, unless they are too large.
            let canEnd = !next.isCyclic || next.isFirst && rowid == nil
            if canEnd {
                guard writer.pendingEvents < limits.rows, values < limits.values, writer.pendingBytes < limits.bytes
                else { return }
                earlierValues = values
            } else {
                guard values - earlierValues < limits.values, writer.pendingBytes < limits.cyclicBytes else { return }
            }
            let before = writer.pendingEvents
            rowid = try writer.recordBaseline(
                of: next.entity, after: rowid, count: limits.rowsPerStep,
                bytes: next.isCyclic ? limits.cyclicBytes : limits.bytes)
            values += (writer.pendingEvents - before) * next.entity.columns.count
            if rowid == nil { rest.removeLast() }
        }
    }
}

extension StorageError {
    fileprivate static func otherBackup(_ path: String) -> StorageError {
        StorageError(
            .conflict, "There is a file \(path) already, where the original database would be saved.",
            remedy: "Move it away, or add --no-backup.")
    }
}
