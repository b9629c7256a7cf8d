import CSQLite
import GRDB
import PredicateTestSupport
import StorageCore
import Synchronization

@testable import StorageLog
@testable import StorageRouting

/// A store with one table of every affinity and collation, whose commits are looked at while they are made.
enum RoutedStore {
    typealias Row = [StorageValue]

    static let columns = TablePlan.standard.names
    static let shape = TablePlan.standard.shape
    static let form = TablePlan.standard.form

    /// For evaluating conditions on rows as they are read from the table.
    static let evaluated =
        [EvaluatedColumn(name: "id", affinity: .text)] + SQLiteTable.columns

    /// - Parameter path: In memory where nil.
    static func open(
        path: String? = nil, _ table: TablePlan = .standard, _ watch: @escaping @Sendable (Commit) throws -> Void
    ) async throws -> StorageEngine {
        let configuration = StorageConfig()
        let watcher = Watcher(watch)
        let makeProjections: StorageEngine.InlineProjectionMaker = { _, _ in [watcher.value.withLock { $0.projection }]
        }
        let engine =
            try path.map {
                try StorageEngine.open(path: $0, configuration: configuration, makeProjections: makeProjections)
            } ?? StorageEngine.openInMemory(configuration: configuration, makeProjections: makeProjections)
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try db.execute(sql: table.sql)
            writer.record(table.entity(id: writer.catalog.nextId))
            try writer.schemaChanged()
        }
        return engine
    }

    static func layout(_ writer: LogWriter) throws -> RowLayout {
        guard let entity = writer.catalog.entity(named: "rows") else { throw StorageError.corruptLog("no table") }
        return RowLayout(entity, in: writer.database)
    }

    /// All rows as the table has them, by key.
    static func rows(_ database: Connection) throws -> [String: [StorageValue]] {
        let names = columns.map(quoted).joined(separator: ", ")
        let select = try PreparedStatement(database, "SELECT \(names) FROM rows")
        var rows: [String: [StorageValue]] = [:]
        while try select.step() {
            rows[select.string(0)] = columns.indices.map { select.row.value(at: Int32($0)) }
        }
        return rows
    }

    /// A commit whose events are linked and whose rows are in the tables.
    struct Commit {
        let view: EventView
        let events: Range<Int>
        /// The position of the view's first event.
        let first: Int64
        let writer: LogWriter
    }
}

/// Carries the projection to the writer's queue, where alone it is used.
private final class Watcher: Sendable {
    /// Sound as `@unchecked Sendable`: what it holds is used on the writer's queue only.
    struct Box: @unchecked Sendable {
        // Sound: handed to one engine, which uses it on its writer's queue only.
        let projection: any InlineProjection
    }
    let value: Mutex<Box>

    init(_ watch: @escaping @Sendable (RoutedStore.Commit) throws -> Void) {
        value = Mutex(Box(projection: WatchingProjection(watch)))
    }
}

private final class WatchingProjection: InlineProjection {
    private let watch: @Sendable (RoutedStore.Commit) throws -> Void

    init(_ watch: @escaping @Sendable (RoutedStore.Commit) throws -> Void) { self.watch = watch }

    func apply(_ events: Range<Int>, of view: EventView, commit: CommitInfo, in writer: LogWriter) throws {
        try watch(RoutedStore.Commit(view: view, events: events, first: writer.head.position + 1, writer: writer))
    }
    func catalogChanged(renumbered: Set<UInt32>, in writer: LogWriter) throws {}
    func reload(from writer: LogWriter) throws {}
    func rebuild(_ entities: [CatalogEntity], in writer: LogWriter) throws {}
    func committed(in writer: LogWriter) {}
}
