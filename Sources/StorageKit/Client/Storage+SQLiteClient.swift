#if SQLITE_ENGINE_GRDB
    internal import GRDB
    internal import StorageCore
    internal import StorageLog
    public import StorageSQLiteClient

    extension Storage {
        /// The store as an `SQLiteClient`: each write through it is captured as a commit like any other, with the task's actor and correlation.
        ///
        /// ```swift
        /// prepareDependencies { $0.sqliteClient = storage.sqliteClient }
        /// ```
        ///
        /// Statements that would bypass the log are refused, as in
        /// ``write(actor:app:reason:correlation:idempotencyKey:attributes:_:)``. Observation covers the tables of entities,
        /// including writes of other processes. Inside a writing body without a parameter, the store's own writing methods
        /// would wait for that body; instead, they throw `invalid-argument`.
        public var sqliteClient: SQLiteClient { sqliteClient() }

        /// Returns the store as an `SQLiteClient` whose commits record their author.
        ///
        /// ```swift
        /// let client = storage.sqliteClient(actor: "importer", reason: "nightly import")
        /// try await client.write { db in try db.execute("DELETE FROM drafts") }
        /// ```
        ///
        /// - Parameters:
        ///   - actor: Who makes the changes; the task-local ``CommitContext/actor`` if nil. A nested body is part of the outer
        ///     body's commit, so it gets the outer body's actor.
        ///   - reason: Why they are made.
        public func sqliteClient(actor: String? = nil, reason: String? = nil) -> SQLiteClient {
            .grdb(StoragePool(storage: self, actor: actor, reason: reason))
        }
    }

    extension StoragePool: SQLiteDatabase, IdentifiedDatabase {
        package var identity: SQLiteClient.Identity { storage.engine }

        /// Returns reports of which of these entities' tables later commits change, whatever their source.
        ///
        /// - Throws: ``StorageError`` with `closed`.
        public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            let sink = SQLiteTableChanges.Sink()
            // The log's head is read before the call returns, so that every later commit is reported.
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
