/// An error of StorageKit.
///
/// The `code` is for decisions in programs: it identifies the kind of failure. The `message` (what happened) and the `remedy`
/// (what to do) are for people. New codes may appear in any version: always keep a `default`.
///
/// ```swift
/// do {
///     try await storage.save(user)
/// } catch let error as StorageError where error.code == .busy {
///     print(error.remedy)
/// }
/// ```
public struct StorageError: Error, Sendable {
    /// The kind of a failure. New ones may be added: compare with `==`, and don't switch exhaustively.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        /// Creates a code from its name.
        public init(_ description: String) { self.description = description }

        /// Another process writes to this store.
        public static let busy = Code("busy")
        /// The store was opened for reading only, or SQL in a read changes something.
        public static let readOnly = Code("read-only")
        /// The file isn't a StorageKit store.
        public static let notAStore = Code("not-a-store")
        /// The store is written in a format that this version doesn't know.
        public static let unsupportedFormat = Code("unsupported-format")
        /// Stored bytes aren't what was written.
        public static let corrupt = Code("corrupt")
        /// A value can't be stored exactly.
        public static let invalidValue = Code("invalid-value")
        /// A name of a table, column or file can't be used.
        public static let invalidName = Code("invalid-name")
        /// A declared limit is exceeded.
        public static let limitExceeded = Code("limit-exceeded")
        /// Too many writes are queued.
        public static let overloaded = Code("overloaded")
        /// The row isn't in the state that the caller expected.
        public static let conflict = Code("conflict")
        /// The clock, or a time that the caller gave, is too far ahead to be right.
        public static let clockAhead = Code("clock-ahead")
        /// The requested object doesn't exist.
        public static let notFound = Code("not-found")
        /// The schema of the store doesn't match the declared one.
        public static let schemaMismatch = Code("schema-mismatch")
        /// An earlier I/O error made the store unusable until it is opened again.
        public static let unusable = Code("unusable")
        /// The store was closed.
        public static let closed = Code("closed")
        /// Reading or writing the disk failed.
        public static let ioError = Code("io-error")
        /// There wasn't enough memory for the request.
        public static let outOfMemory = Code("out-of-memory")
        /// A statement was interrupted before its end.
        public static let interrupted = Code("interrupted")
        /// SQLite refused a statement.
        public static let database = Code("database")
        /// A remote can't be reached, refuses a request, or its response isn't valid.
        public static let remoteFailed = Code("remote-failed")
        /// An argument, or the call itself, is invalid.
        public static let invalidArgument = Code("invalid-argument")
    }

    /// The location in StorageKit's source where the error was created.
    public struct Location: Sendable, Hashable {
        /// The source file.
        public let file: String
        /// The line in the file.
        public let line: Int
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, in one sentence.
    public let message: String
    /// What to do about it, in one sentence.
    public let remedy: String
    /// The error that caused this one.
    public let cause: (any Error)?
    /// Where in StorageKit's source the error was created.
    public let location: Location
    /// Whether the store's own file or the engine's own checks failed, after which the state in memory is unknown: the store has
    /// to be opened again. Never set for an error of the user's code, whatever its code.
    package var isStoreFailure = false

    /// Whether another program, or the commit itself, has changed a table in a way that the log can't follow.
    package var isCausedBySchemaChange = false

    /// Whether the machine failed, its disk or its memory: the error says nothing about the stored data then.
    package var isOfTheMachine: Bool { code == .ioError || code == .outOfMemory }

    /// Whether the tables that a virtual table keeps, such as a full-text index, contradict each other.
    package var isOfVirtualTable = false

    /// Whether a row that is to be changed isn't in the log, because another program has written it.
    package var isCausedByUnrecordedRow = false

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened, in one sentence.
    ///   - remedy: What to do about it, in one sentence.
    ///   - cause: The underlying error.
    public init(
        _ code: Code, _ message: String, remedy: String, cause: (any Error)? = nil, file: String = #fileID,
        line: Int = #line
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.cause = cause
        self.location = Location(file: file, line: line)
    }

    /// The error, with ``isCausedBySchemaChange`` set.
    package func causedBySchemaChange() -> StorageError {
        var error = self
        error.isCausedBySchemaChange = true
        return error
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String {
        var text = "\(message) \(remedy)"
        if let cause { text += " (\(cause))" }
        return text
    }
}
