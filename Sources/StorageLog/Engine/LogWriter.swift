internal import CSQLite
internal import Foundation
internal import GRDB
package import StorageCore

/// The state and operations of the writer connection: capture, commits, the tail of the log.
///
/// Isolation: confined to the queue of the writer connection. It isn't `Sendable`; ``StorageEngine`` hands it out only
/// inside a block that runs there.
package final class LogWriter {
    package let database: Connection
    let capture: OpaquePointer
    package let configuration: StorageConfig

    /// The last position, commit and time in the log, as of the last finished transaction.
    package internal(set) var head: LogHead
    package internal(set) var catalog: Catalog
    var schema = SchemaState()
    /// The definitions of tables that capture has. Not a part of ``schema``, which returns to an earlier state with a savepoint.
    var definitions = CaptureDefinitions()
    /// What reading SQLite's schema and defining capture have cost so far.
    var schemaWork = SchemaWork()
    /// The current commit's changes of the catalog.
    var changes = CatalogChanges()
    /// Whether the catalog in memory may differ from the file since the transaction began, so that a rollback has to read it
    /// again.
    var catalogIsDirty = false
    package let observers = CommitObservers()
    let signals = EngineSignals()
    let checkpoints: WriteAheadLogCheckpoints
    /// How long the last transaction took.
    var lastTransaction = TransactionTiming()
    /// Whether ``projectionTime`` is measured.
    var timesProjections = false
    /// The time that projections have taken since it was last set to zero.
    var projectionTime = Duration.zero
    /// The version of observers' requested columns that capture uses.
    var requestedVersion = 0
    /// Notifies other processes of commits, and keeps the last acknowledged position for the next opening; nil if there is none.
    let doorbell: Doorbell?
    package private(set) var projections: [any InlineProjection] = []

    private var statements: [ExactText: PreparedStatement] = [:]
    var fixedStatements = [PreparedStatement?](repeating: nil, count: FixedStatement.allCases.count)
    let encoder = SegmentEncoder()
    let decoder = SegmentDecoder()

    /// The commits of the current transaction, with the indexes of their events in the capture buffer.
    var open: [(info: CommitInfo, events: Range<Int>)] = []
    var pending: LogHead
    /// The clock's reading when the store was opened; `Int64.min` if it is implausible.
    let openingTime: Int64
    /// The last position that is sealed or final; nil until it is looked up.
    var sealedThrough: Int64?
    var isInGroup = false
    /// Whether to reconnect virtual tables after the current transaction.
    var reconnectsVirtualTables = false
    /// Whether nothing in the group reads the store's history, so that tombstones can be written at its end.
    var defersTombstones = false
    var tombstones = Tombstones()
    var role = WriterRole()
    /// Why the last change of the schema by the current commit was refused, while its body runs further statements.
    var schemaFailure: (any Error)?
    /// Whether a projection has run since followers were woken.
    var hasRunProjection = false
    var guarded = GuardedState()
    var foreignWrites = ForeignWrites()
    var writeGuard = WriteGuardState()
    /// The write-ahead log and its index, which SQLite finds by name when it opens them and never looks for again.
    let sidecars: [FileIdentity]

    init(database: Connection, configuration: StorageConfig, doorbell: Doorbell?) throws {
        self.database = database
        self.configuration = configuration
        self.doorbell = doorbell
        catalog = try Catalog.load(database)
        head = try LogHead.load(database)
        writeGuard.isOn = try WriteGuard.isOn(database)
        pending = head
        let reading = configuration.clock.microseconds
        openingTime = reading <= Limits.latestOpeningTime ? reading : .min
        let limits = storage_limits(
            value_bytes: UInt64(Limits.valueBytes), commit_bytes: UInt64(Limits.commitBytes),
            commit_events: UInt64(Limits.commitEvents))
        // They exist by now, because the catalog was read.
        sidecars = database.path.map { path in ["-wal", "-shm"].compactMap { FileIdentity(path + $0) } } ?? []
        checkpoints = WriteAheadLogCheckpoints(database, pages: Limits.checkpointPages)
        // Last, so that an error thrown after it runs `deinit`, which frees it.
        guard let capture = storage_capture_create(database.handle, limits) else {
            throw StorageError.sqlite(code: SQLITE_ERROR, message: "capture can't be installed", sql: nil)
        }
        self.capture = capture
        try learnSettings()
        foreignWrites.version = try pragma("data_version")
    }

    deinit {
        statements.removeAll()
        fixedStatements.removeAll()
        foreignWrites.reader = nil
        sqlite3_preupdate_hook(database.handle, nil, nil)
        sqlite3_trace_v2(database.handle, 0, nil, nil)
        storage_capture_destroy(capture)
    }

    /// Keeps derived state up to date from this call on.
    ///
    /// - Throws: `invalid-argument` if the store has derived state that no given projection keeps up to date.
    func install(_ projections: [any InlineProjection]) throws {
        self.projections = projections
        let select = try statement("SELECT name FROM storage_projection WHERE kind = 'full-text' LIMIT 1")
        defer { select.reset() }
        guard projections.isEmpty, try select.step() else { return }
        throw StorageError(
            .invalidArgument,
            "The store has the projection \(select.string(0)), which this call wouldn't keep up to date.",
            remedy: "Open it with openStore.")
    }

    /// A prepared statement, cached by its text.
    package func statement(_ sql: String) throws -> PreparedStatement {
        if let known = statements[ExactText(sql)] { return known }
        let statement = try PreparedStatement(database, sql)
        if statements.count >= Limits.keptStatements { statements.removeAll() }
        statements[ExactText(sql)] = statement
        return statement
    }

    /// The position that the next captured event will have.
    package var nextPosition: Int64 { head.position + Int64(storage_capture_count(capture)) + 1 }
}
