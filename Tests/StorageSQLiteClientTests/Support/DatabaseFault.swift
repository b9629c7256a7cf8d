#if SQLITE_ENGINE_GRDB
    import Foundation
    import GRDB
    import TestSupport
    import StorageSQLiteClient

    /// What the database below the engine of GRDB might do wrong.
    enum DatabaseFault: CaseIterable, Sendable {
        /// Each statement of a reading body sees another state.
        case readsWithoutATransaction
        /// Each statement of a writing body is committed by itself.
        case writesWithoutATransaction
        /// Tells changes when they are made, and not when they are committed.
        case tellsWhatIsUndone
        /// Tells every commit, whichever tables it changes.
        case tellsTooMuch

        var checks: [ClientConformance] {
            switch self {
            case .readsWithoutATransaction: [.readsAreOneState]
            case .writesWithoutATransaction: [.aThrowingWriteChangesNothing, .bodiesThatAskAndThrowChangeNothing]
            case .tellsWhatIsUndone: [.whatIsUndoneIsNotObserved]
            case .tellsTooMuch: [.commitsAreObserved]
            }
        }
    }

    /// A pool of GRDB with a fault.
    struct FaultyDatabase: SQLiteDatabase {
        private let pool: DatabasePool
        private let fault: DatabaseFault

        /// Runs a body with the client of a new database.
        static func withClient(_ fault: DatabaseFault, _ body: (SQLiteClient) async throws -> Void) async throws {
            let folder = try TemporaryFolder()
            let pool = try DatabasePool(path: folder.path("test.sqlite"))
            try await pool.write { try $0.execute(sql: ClientConformance.sql) }
            let outcome = await Result { try await body(.grdb(FaultyDatabase(pool: pool, fault: fault))) }
            try pool.close()
            try outcome.get()
        }

        func read<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
            guard fault == .readsWithoutATransaction else { return try await pool.read(body) }
            return try await withCheckedThrowingContinuation { continuation in
                pool.asyncUnsafeRead { db in
                    continuation.resume(with: Swift.Result { try body(try db.get()) })
                }
            }
        }

        func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
            guard fault == .writesWithoutATransaction else { return try await pool.write(body) }
            return try await pool.writeWithoutTransaction(body)
        }

        func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            guard fault == .tellsWhatIsUndone || fault == .tellsTooMuch else {
                return try await pool.observeTables(tables)
            }
            let sink = SQLiteTableChanges.Sink()
            let observer = FaultyObserver(tables, sink, tellsTooMuch: fault == .tellsTooMuch)
            try await pool.writeWithoutTransaction { $0.add(transactionObserver: observer, extent: .databaseLifetime) }
            return SQLiteTableChanges(sink) { sink.finish() }
        }
    }

    /// Isolation: `Sendable`, immutable; GRDB calls it on the connection's thread.
    private final class FaultyObserver: TransactionObserver, Sendable {
        private let tables: Set<String>
        private let sink: SQLiteTableChanges.Sink
        private let tellsTooMuch: Bool

        init(_ tables: Set<String>, _ sink: SQLiteTableChanges.Sink, tellsTooMuch: Bool) {
            self.tables = tables
            self.sink = sink
            self.tellsTooMuch = tellsTooMuch
        }

        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }

        func databaseDidChange(with event: DatabaseEvent) {
            if !tellsTooMuch, tables.contains(event.tableName) { sink.send([event.tableName]) }
        }

        func databaseDidCommit(_ db: Database) { if tellsTooMuch { sink.send(tables) } }

        func databaseDidRollback(_ db: Database) {}
    }

    extension Result where Success == Void, Failure == any Error {
        fileprivate init(_ body: () async throws -> Void) async {
            do { self = .success(try await body()) } catch { self = .failure(error) }
        }
    }
#endif
