#if SQLITE_ENGINE_GRDB
    public import GRDB

    /// A database that bodies of GRDB read and write: a queue or pool of GRDB, or a store.
    ///
    /// Of a store it is not GRDB's own writer, which would leave the log behind: `write` is a commit, captured like any other.
    public protocol SQLiteDatabase: Sendable {
        /// Reads one state of the database.
        func read<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result
        /// Changes the database: all that the body does, or, where it throws, nothing.
        @discardableResult
        func write<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result
        /// Which of these tables commits change, from now on.
        func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges
    }

    extension DatabaseQueue: SQLiteDatabase {}
    extension DatabasePool: SQLiteDatabase {}

    extension DependencyValues {
        /// The database that ``SQLiteClient/grdb`` works on, for bodies of GRDB.
        ///
        /// ```swift
        /// try prepareDependencies { $0.defaultDatabase = try DatabaseQueue() }
        ///
        /// @Dependency(\.defaultDatabase) var database
        /// let items = try await database.read { db in try Item.fetchAll(db) }
        /// ```
        ///
        /// Inside of `client.read { … }` and `client.write { … }` without a parameter it is their open transaction. A queue or
        /// pool of a store's file only reads: its writes would go around the log, and throw `read-only`.
        public var defaultDatabase: any SQLiteDatabase {
            get { self[DefaultDatabaseKey.self] }
            set { self[DefaultDatabaseKey.self] = GRDBDatabase.wrapping(newValue) }
        }
    }

    enum DefaultDatabaseKey: DependencyKey {
        static let liveValue: any SQLiteDatabase = MissingDatabase()
    }

    /// A database that can tell whether another one is the same.
    package protocol IdentifiedDatabase {
        var identity: SQLiteClient.Identity { get }
    }

    /// Stands where no database was given.
    private struct MissingDatabase: SQLiteDatabase {
        private static let error = SQLiteClientError(
            .missingDependency, "No database was given.",
            remedy: "Call `prepareDependencies { $0.defaultDatabase = … }` where the program begins, "
                + "or `withDependencies` around a test.")

        func read<Result>(_ body: @escaping @Sendable (Database) throws -> Result) throws -> Result { throw Self.error }
        func write<Result>(_ body: @escaping @Sendable (Database) throws -> Result) throws -> Result {
            throw Self.error
        }
        func observeTables(_ tables: Set<String>) throws -> SQLiteTableChanges { throw Self.error }
    }

    /// The open transaction of an asynchronous body as a database.
    struct HeldDatabase: SQLiteDatabase, IdentifiedDatabase {
        private let transaction: HeldTransaction

        init(_ transaction: HeldTransaction) { self.transaction = transaction }

        var identity: SQLiteClient.Identity { transaction.identity }

        func read<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            try await transaction.run(.read) { try body($0.database) }
        }

        func write<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            try await transaction.run(.write) { try body($0.database) }
        }

        func observeTables(_ tables: Set<String>) throws -> SQLiteTableChanges {
            throw SQLiteClientError.observesInside
        }
    }
#endif
