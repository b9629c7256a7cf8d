internal import CSQLite
internal import Foundation
internal import GRDB
package import StorageCore

/// Everything that the writer connection knows and does: capture, commits, the tail of the log.
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
    /// What the commit under way has done to the catalog.
    var changes = CatalogChanges()
    /// Whether the catalog in memory may say other than the file since the transaction began, so that a rollback has to read
    /// it again.
    var catalogIsDirty = false
    package let observers = CommitObservers()
    let signals = EngineSignals()
    let checkpoints: WriteAheadLogCheckpoints
    /// How long the last transaction took.
    var lastTransaction = TransactionTiming()
    /// Whether ``projectionTime`` is measured.
    var timesProjections = false
    /// How long projections have taken, since somebody set it to zero.
    var projectionTime = Duration.zero
    /// Up to which change capture knows what observers ask for.
    var requestedVersion = 0
    /// By which other processes hear of commits, and the next opening of how far they had come; nil where there is none.
    let doorbell: Doorbell?
    package private(set) var projections: [any InlineProjection] = []

    private var statements: [ExactText: PreparedStatement] = [:]
    var fixedStatements = [PreparedStatement?](repeating: nil, count: FixedStatement.allCases.count)
    let encoder = SegmentEncoder()
    let decoder = SegmentDecoder()

    /// The commits of the transaction under way, with the place of their first event in the capture buffer.
    var open: [(info: CommitInfo, events: Range<Int>)] = []
    var pending: LogHead
    /// What the clock read when the store was opened; nothing where that can't be.
    let openingTime: Int64
    /// First position that may not be sealed yet; nil until somebody looked.
    var sealedThrough: Int64?
    var isInGroup = false
    /// Whether virtual tables are to be reconnected behind the transaction under way.
    var reconnectsVirtualTables = false
    /// Whether nothing that runs in the group reads the store's history, so that tombstones can wait for its end.
    var defersTombstones = false
    var tombstones = Tombstones()
    var role = WriterRole()
    var guarded = GuardedState()
    var writeGuard = WriteGuardState()

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
        checkpoints = WriteAheadLogCheckpoints(database, pages: Limits.checkpointPages)
        // Last, so that whatever throws behind it ends in `deinit`, which gives it back.
        guard let capture = storage_capture_create(database.handle, limits) else {
            throw StorageError.sqlite(code: SQLITE_ERROR, message: "capture can't be installed", sql: nil)
        }
        self.capture = capture
        try learnSettings()
    }

    deinit {
        statements.removeAll()
        fixedStatements.removeAll()
        sqlite3_preupdate_hook(database.handle, nil, nil)
        sqlite3_trace_v2(database.handle, 0, nil, nil)
        storage_capture_destroy(capture)
    }

    /// Keeps derived state in step from now on.
    ///
    /// - Throws: Where the store has derived state that nobody would keep.
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

    /// A prepared statement that lives as long as the connection.
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
