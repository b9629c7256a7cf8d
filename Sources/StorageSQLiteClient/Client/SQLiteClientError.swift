internal import CSQLite

/// The error type of ``SQLiteClient`` and its engines.
///
/// ```swift
/// do {
///     try await client.write { db in try db.execute("INSERT INTO users (id) VALUES (1)") }
/// } catch let error as SQLiteClientError where error.code == .constraint {
///     print(error.message, error.remedy)
/// }
/// ```
///
/// `code` is for decisions, `message` and `remedy` for people. New codes may be added in any version: always keep a
/// `default`.
public struct SQLiteClientError: Error, Sendable {
    /// The kind of failure. An open set: compare with `==`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        /// Creates a code from its name.
        public init(_ description: String) { self.description = description }

        /// A required dependency wasn't set.
        public static let missingDependency = Code("missing-dependency")
        /// The connection or pool is closed.
        public static let closed = Code("closed")
        /// The SQL text is invalid, or the number of arguments doesn't match its placeholders.
        public static let sql = Code("sql")
        /// The row has no column of this name.
        public static let column = Code("column")
        /// A constraint of the schema rejected the change.
        public static let constraint = Code("constraint")
        /// A reading body, or a read-only connection, was used to change something.
        public static let readOnly = Code("read-only")
        /// Another connection holds a lock for longer than the busy timeout.
        public static let busy = Code("busy")
        /// The task was cancelled, and the statement with it.
        public static let cancelled = Code("cancelled")
        /// The file isn't a database, or is damaged.
        public static let corrupt = Code("corrupt")
        /// The disk, or the file system, failed.
        public static let ioError = Code("io-error")
        /// An argument, or the call itself, is invalid.
        public static let invalidArgument = Code("invalid-argument")
        /// Anything else that SQLite reports.
        public static let database = Code("database")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in one sentence.
    public let message: String
    /// What to do about it, in one sentence.
    public let remedy: String
    /// SQLite's extended result code; nil if SQLite reported none.
    public let resultCode: Int32?
    /// The underlying error.
    public let cause: (any Error)?

    /// Creates an error, for example in an engine of your own.
    public init(
        _ code: Code, _ message: String, remedy: String, resultCode: Int32? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.resultCode = resultCode
        self.cause = cause
    }
}

extension SQLiteClientError: CustomStringConvertible {
    public var description: String { "\(code): \(message) \(remedy)" }
}

extension SQLiteClientError {
    package static func noColumn(_ name: String, among columns: [String]) -> SQLiteClientError {
        SQLiteClientError(
            .column, "The row has no column \"\(name)\": it has \(columns.joined(separator: ", ")).",
            remedy: "Name the column in the query, or rename it there with AS.")
    }

    /// Returns the error for an SQLite result code.
    ///
    /// - Parameters:
    ///   - resultCode: The extended result code.
    ///   - message: SQLite's message.
    public static func sqlite(_ resultCode: Int32, _ message: String, sql: String?, cause: (any Error)? = nil)
        -> SQLiteClientError
    {
        let context = sql.map { " while running `\($0.prefix(200))`" } ?? ""
        let (code, remedy): (Code, String) =
            switch resultCode & 0xFF {
            case SQLITE_ERROR: (.sql, "Correct the statement, or create the table that it names.")
            case SQLITE_BUSY, SQLITE_LOCKED:
                (.busy, "Try again, raise the busy timeout, or end the transaction that holds the lock.")
            case SQLITE_READONLY: (.readOnly, "Change the database in `write`.")
            case SQLITE_INTERRUPT: (.cancelled, "Run it again in a task that isn't cancelled.")
            case SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN:
                (.ioError, "Check the path, its permissions and the free space.")
            case SQLITE_CORRUPT, SQLITE_NOTADB:
                (.corrupt, "Restore a backup; `PRAGMA integrity_check` shows how far the damage goes.")
            case SQLITE_CONSTRAINT: (.constraint, "Correct the row, or the schema.")
            case SQLITE_MISUSE, SQLITE_RANGE: (.sql, "Give as many arguments as the statement has placeholders.")
            default: (.database, "Correct the statement or the schema.")
            }
        return SQLiteClientError(
            code, "SQLite refused\(context): \(message).", remedy: remedy, resultCode: resultCode, cause: cause)
    }
}

extension SQLiteClientError {
    /// - Parameters:
    ///   - given: The number of arguments.
    ///   - wanted: The number of placeholders in the statement.
    package static func wrongCount(_ given: Int, of wanted: Int, sql: String) -> SQLiteClientError {
        SQLiteClientError(
            .sql, "`\(sql.prefix(200))` has \(wanted) placeholders and was given \(given) arguments.",
            remedy: "Give as many arguments as the statement has placeholders; statements in a row take none.")
    }
}

extension SQLiteClientError {
    package static var cancelled: SQLiteClientError { cancellation(cause: nil) }

    private static func cancellation(cause: (any Error)?) -> SQLiteClientError {
        SQLiteClientError(
            .cancelled, "The task was cancelled.", remedy: "Run it again in a task that isn't cancelled.", cause: cause)
    }

    /// Converts the `CancellationError` of a cancelled task, which some engines and bodies throw, to `cancelled`.
    static func namingCancellation<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        do { return try await body() } catch let error as CancellationError where Task.isCancelled {
            throw cancellation(cause: error)
        }
    }

    static func closed(cause: (any Error)?) -> SQLiteClientError {
        SQLiteClientError(.closed, "The database is closed.", remedy: "Open it again.", cause: cause)
    }

    static var bodyDidNotRun: SQLiteClientError {
        SQLiteClientError(
            .invalidArgument, "The client's engine has returned without running the body.",
            remedy: "Let the closures of SQLiteClient call what they are given, or throw.")
    }

    static var observesInside: SQLiteClientError {
        SQLiteClientError(
            .invalidArgument, "Tables can't be observed from inside of a transaction.",
            remedy: "Observe them before it begins.")
    }

    /// - Parameters:
    ///   - path: The store's file.
    ///   - message: What was attempted.
    package static func store(
        at path: String, resultCode: Int32? = nil, refusing message: String
    ) -> SQLiteClientError {
        SQLiteClientError(
            .readOnly, "\(path) is a StorageKit store, which this engine only reads: \(message).",
            remedy: "Write through the store (`storage.sqliteClient`), so that the change gets into its log.",
            resultCode: resultCode)
    }

    /// The `PRAGMA application_id` of a store's file.
    package static let storeApplicationID: Int64 = 0x5354_4B54
}
