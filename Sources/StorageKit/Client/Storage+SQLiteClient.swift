#if SQLITE_ENGINE_GRDB
    internal import GRDB
    internal import StorageCore
    internal import StorageLog
    public import StorageSQLiteClient

    extension Storage {
        /// The store as an `SQLiteClient`: what is written through it is a commit, captured like any other, with the task's
        /// actor and correlation.
        ///
        /// ```swift
        /// prepareDependencies { $0.sqliteClient = storage.sqliteClient }
        /// ```
        ///
        /// What would go around the log is refused, as in ``write(actor:app:reason:correlation:idempotencyKey:attributes:_:)``.
        /// Observed are the tables of entities, also where another process writes them. Inside of a body without a parameter
        /// that writes, the store's own methods that write would wait for it: they throw `invalid-argument`.
        public var sqliteClient: SQLiteClient { sqliteClient() }

        /// The store as an `SQLiteClient` whose commits say who made them.
        ///
        /// ```swift
        /// let client = storage.sqliteClient(actor: "importer", reason: "nightly import")
        /// try await client.write { db in try db.execute("DELETE FROM drafts") }
        /// ```
        ///
        /// - Parameters:
        ///   - actor: Who makes the changes; the task-local ``CommitContext/actor`` where nil. Of a body inside of another one
        ///     that of the outer counts, as both are one commit.
        ///   - reason: Why they are made.
        public func sqliteClient(actor: String? = nil, reason: String? = nil) -> SQLiteClient {
            .grdb(StoragePool(storage: self, actor: actor, reason: reason))
        }
    }

    extension StoragePool: SQLiteDatabase, IdentifiedDatabase {
        package var identity: SQLiteClient.Identity { storage.engine }

        /// Reports which of these entities' tables later commits change, from any source.
        ///
        /// - Throws: ``StorageError`` with `closed`.
        public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            let sink = SQLiteTableChanges.Sink()
            // Where the log stands now, before the call returns: what is committed later is reported.
            let start = try await storage.changes(since: .head, limit: 1).next
            let names = Dictionary(tables.map { ($0.lowercasedASCII, $0) }, uniquingKeysWith: { first, _ in first })
            let changes = storage.changes(since: start)
            let task = Task {
                do {
                    for try await change in changes {
                        sink.send(Set(change.events.compactMap { names[$0.table.lowercasedASCII] }))
                    }
                    sink.finish()
                } catch {
                    sink.finish(throwing: error)
                }
            }
            return SQLiteTableChanges(sink) { task.cancel() }
        }
    }
#endif
