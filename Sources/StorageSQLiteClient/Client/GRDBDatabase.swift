#if SQLITE_ENGINE_GRDB
    internal import GRDB

    /// A GRDB queue or pool for use by clients.
    ///
    /// - Inside a body that holds its transaction it refers to that transaction, because its own connection would wait
    ///   for it.
    /// - A store's file is only read, even if it is attached. This is checked before each write: a file may become a
    ///   store.
    struct GRDBDatabase: SQLiteDatabase, IdentifiedDatabase {
        private let writer: any DatabaseWriter

        /// Wraps a queue or pool; returns any other database unchanged.
        static func wrapping(_ database: any SQLiteDatabase) -> any SQLiteDatabase {
            switch database {
            case let queue as DatabaseQueue: GRDBDatabase(writer: queue)
            case let pool as DatabasePool: GRDBDatabase(writer: pool)
            default: database
            }
        }

        var identity: SQLiteClient.Identity { writer }

        private var held: HeldDatabase? { HeldTransaction.current(of: writer).map(HeldDatabase.init) }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            if let held { return try await held.read(body) }
            guard writer is DatabaseQueue else { return try await writer.read(body) }
            // Like the queue's own `read`, which checks for a closed connection.
            return try await writer.writeWithoutTransaction { db in
                guard db.sqliteConnection != nil else { throw SQLiteClientError.closed(cause: nil) }
                return try db.readOnly {
                    var result: Result?
                    try db.inSavepoint {
                        result = try body(db)
                        return .commit
                    }
                    // Sound to force: the savepoint's body has returned.
                    return result!
                }
            }
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            if let held { return try await held.write(body) }
            return try await writer.writeWithoutTransaction { db in
                guard db.sqliteConnection != nil else { throw SQLiteClientError.closed(cause: nil) }
                // Before the transaction, which would wait for the store's own.
                try Self.checkIsNoStore(db)
                var result: Result?
                try db.inTransaction {
                    result = try body(db)
                    try Self.checkIsNoStoreAttached(db)
                    return .commit
                }
                // Sound to force: the transaction's body has returned.
                return result!
            }
        }

        func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
            if let held { return try held.observeTables(tables) }
            return try await writer.observeTables(tables)
        }

        /// What the body has attached can't be detached before the end of the transaction.
        private static func checkIsNoStoreAttached(_ db: Database) throws {
            let attached = try db.cachedStatement(
                sql: "SELECT name, file FROM temp.pragma_database_list WHERE name NOT IN ('main', 'temp')")
            for row in try Row.fetchAll(attached) {
                let name = (row["name"] as String).quotedDatabaseIdentifier
                let identity = try Int64.fetchOne(db, sql: "PRAGMA \(name).application_id")
                guard identity == SQLiteClientError.storeApplicationID else { continue }
                throw SQLiteClientError.store(at: row["file"], refusing: "it is attached")
            }
        }

        private static func checkIsNoStore(_ db: Database) throws {
            let identity = try Int64.fetchOne(try db.cachedStatement(sql: "PRAGMA application_id"))
            if identity == SQLiteClientError.storeApplicationID {
                let path = try String.fetchOne(
                    db, sql: "SELECT file FROM temp.pragma_database_list WHERE name = 'main'")
                throw SQLiteClientError.store(
                    at: path ?? "The database", refusing: "a writing transaction")
            }
        }
    }
#endif
