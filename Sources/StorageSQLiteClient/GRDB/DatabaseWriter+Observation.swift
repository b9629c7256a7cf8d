#if SQLITE_ENGINE_GRDB
    public import GRDB
    internal import StorageCore
    internal import Synchronization

    extension DatabaseWriter {
        /// Which of these tables commits of this queue or pool change, from now on.
        ///
        /// Changes by other connections to the file aren't seen; for those, observe a store. Cost: a lookup for each
        /// changed row.
        ///
        /// - Throws: ``SQLiteClientError`` with `closed` where the queue or pool is.
        public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            let sink = SQLiteTableChanges.Sink()
            let observer = TableObserver(tables, sink)
            try await writeWithoutTransaction { db in
                // A closed one would take the observer, and never call it.
                guard db.sqliteConnection != nil else { throw SQLiteClientError.closed(cause: nil) }
                db.add(transactionObserver: observer, extent: .observerLifetime)
            }
            // GRDB drops an observer that nobody holds. Taking it away by hand could wait for the writer.
            return SQLiteTableChanges(sink) { observer.end() }
        }
    }

    /// Gathers the tables that a transaction changes.
    ///
    /// `@unchecked Sendable`: `changed` is touched on the connection's thread only, as GRDB calls observers there.
    private final class TableObserver: TransactionObserver, @unchecked Sendable {
        /// The names as the reader spelt them, by the names as SQLite compares them.
        private let names: [String: String]
        private let sink: Mutex<SQLiteTableChanges.Sink?>
        private var changed: Set<String> = []

        init(_ tables: Set<String>, _ sink: SQLiteTableChanges.Sink) {
            names = Dictionary(tables.map { ($0.lowercasedASCII, $0) }, uniquingKeysWith: { first, _ in first })
            self.sink = Mutex(sink)
        }

        func end() { sink.withLock { $0 = nil } }

        private func name(_ kind: DatabaseEventKind) -> String? {
            switch kind {
            case .insert(let table), .delete(let table), .update(let table, _): names[table.lowercasedASCII]
            }
        }

        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { name(kind) != nil }

        func databaseDidChange() { changed.formUnion(names.values) }

        func databaseDidChange(with event: DatabaseEvent) {
            if let name = names[event.tableName.lowercasedASCII] { changed.insert(name) }
        }

        func databaseDidCommit(_ db: Database) {
            sink.withLock { $0 }?.send(changed)
            changed = []
        }

        func databaseDidRollback(_ db: Database) { changed = [] }
    }
#endif
