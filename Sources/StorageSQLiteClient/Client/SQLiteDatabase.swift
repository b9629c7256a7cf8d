#if SQLITE_ENGINE_GRDB
    public import GRDB

    /// A database for GRDB bodies: a GRDB queue or pool, or a store.
    ///
    /// ```swift
    /// try await database.write { db in try item.insert(db) }
    /// ```
    ///
    /// The database of a store isn't GRDB's own writer, which would bypass the log: each `write` is a commit, captured
    /// like any other.
    public protocol SQLiteDatabase: Sendable {
        /// Reads a single state of the database.
        ///
        /// - Throws: Errors of the body; ``SQLiteClientError``.
        func read<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result
        /// Changes the database: everything the body does is committed or, if it throws, nothing.
        ///
        /// - Throws: Errors of the body; ``SQLiteClientError``.
        @discardableResult
        func write<Result: Sendable>(
            _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result
        /// Observes which of these tables later commits change.
        ///
        /// - Throws: As ``SQLiteClient/observeTables(_:)``.
        func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges
    }

    extension DatabaseQueue: SQLiteDatabase {}
    extension DatabasePool: SQLiteDatabase {}

    extension DependencyValues {
        /// The database of ``SQLiteClient/grdb``, for GRDB bodies.
        ///
        /// ```swift
        /// try prepareDependencies { $0.defaultDatabase = try DatabaseQueue() }
        ///
        /// @Dependency(\.defaultDatabase) var database
        /// let items = try await database.read { db in try Item.fetchAll(db) }
        /// ```
        ///
        /// Inside the asynchronous bodies of `client.read` and `client.write` it is their open transaction. A queue or
        /// pool that opens a store's file can only read: its writes would bypass the log, and throw `read-only`.
        public var defaultDatabase: any SQLiteDatabase {
            get { self[DefaultDatabaseKey.self] }
            set { self[DefaultDatabaseKey.self] = GRDBDatabase.wrapping(newValue) }
        }
    }

    enum DefaultDatabaseKey: DependencyKey {
        static let liveValue: any SQLiteDatabase = MissingDatabase()
    }

    /// A database whose identity can be compared with others.
    package protocol IdentifiedDatabase {
        var identity: SQLiteClient.Identity { get }
    }

    /// The placeholder for a database that wasn't set.
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
