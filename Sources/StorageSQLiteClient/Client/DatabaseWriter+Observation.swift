#if SQLITE_ENGINE_GRDB
    public import GRDB
    internal import StorageCore
    internal import Synchronization

    extension DatabaseWriter {
        /// Observes which of these tables later commits of this queue or pool change.
        ///
        /// Changes by other connections to the file aren't seen; for those, observe a store. SQLite doesn't report the
        /// rows of virtual tables and `WITHOUT ROWID` tables, so their changes are derived from statements: if a commit
        /// has changed anything, every such table that one of its statements could have changed is reported. Cost: a
        /// lookup for each changed row.
        ///
        /// - Throws: ``SQLiteClientError`` with `closed` if the queue or pool is closed.
        public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            let sink = SQLiteTableChanges.Sink()
            let observer = TableObserver(tables, sink)
            try await writeWithoutTransaction { db in
                // A closed one would accept the observer and never call it.
                guard db.sqliteConnection != nil else { throw SQLiteClientError.closed(cause: nil) }
                observer.begin(db)
                db.add(transactionObserver: observer, extent: .observerLifetime)
            }
            // GRDB drops an observer without references. Removing it explicitly could wait for the writer.
            return SQLiteTableChanges(sink) { observer.end() }
        }
    }

    /// Collects the tables that a transaction changes.
    ///
    /// `@unchecked Sendable`: its variables are used only on the connection's thread, where GRDB calls observers.
    private final class TableObserver: TransactionObserver, @unchecked Sendable {
        /// The names as the reader spelled them, keyed by SQLite's folded names.
        private let names: [String: String]
        private let sink: Mutex<SQLiteTableChanges.Sink?>
        private var changed: Set<String> = []
        /// The tables that the transaction's statements could have changed.
        private var touched: Set<String> = []
        /// The connection's change count when the transaction began.
        private var changeCount = 0

        init(_ tables: Set<String>, _ sink: SQLiteTableChanges.Sink) {
            names = Dictionary(tables.map { ($0.lowercasedASCII, $0) }, uniquingKeysWith: { first, _ in first })
            self.sink = Mutex(sink)
        }

        func begin(_ db: Database) { changeCount = db.totalChangesCount }

        func end() { sink.withLock { $0 = nil } }

        private func name(_ kind: DatabaseEventKind) -> String? {
            switch kind {
            case .insert(let table), .delete(let table), .update(let table, _): names[table.lowercasedASCII]
            }
        }

        /// GRDB calls this before each statement.
        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
            guard let name = name(kind) else { return false }
            touched.insert(name)
            return true
        }

        func databaseDidChange() { changed.formUnion(names.values) }

        func databaseDidChange(with event: DatabaseEvent) {
            if let name = names[event.tableName.lowercasedASCII] { changed.insert(name) }
        }

        func databaseDidCommit(_ db: Database) {
            if db.totalChangesCount != changeCount {
                changed.formUnion(touched.subtracting(changed).filter { !reportsRows(of: $0, db) })
            }
            sink.withLock { $0 }?.send(changed)
            reset(db)
        }

        func databaseDidRollback(_ db: Database) { reset(db) }

        private func reset(_ db: Database) {
            changed = []
            touched = []
            begin(db)
        }

        /// Whether SQLite's update hook is called for the rows of a table.
        private func reportsRows(of table: String, _ db: Database) -> Bool {
            let sql = "SELECT 1 FROM temp.pragma_table_list(?) WHERE wr OR type = 'virtual'"
            // If that can't be determined, assume that it may have changed.
            do { return try Int.fetchOne(db, sql: sql, arguments: [table]) == nil } catch { return false }
        }
    }
#endif
