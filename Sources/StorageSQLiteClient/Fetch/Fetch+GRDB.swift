#if SQLITE_ENGINE_GRDB
    public import GRDB

    extension FetchAll where Element: FetchableRecord & TableRecord {
        /// Fetches the rows of a request.
        ///
        /// - Parameters:
        ///   - request: Returns the request; called for each read.
        ///   - client: The client to read from; the task's `\.sqliteClient` if nil.
        public init(
            wrappedValue: [Element] = [], client: SQLiteClient? = nil,
            _ request: @escaping @Sendable () -> QueryInterfaceRequest<Element>
        ) { self.init(wrappedValue: wrappedValue, client: client) { db in try db.fetchAll(request()) } }
    }

    /// An optional GRDB record: the value of ``FetchOne`` without a query.
    public protocol OptionalRecord: ExpressibleByNilLiteral {
        /// The type of the record.
        associatedtype Record: FetchableRecord & TableRecord
        /// Creates the optional.
        init(record: Record?)
    }

    extension Optional: OptionalRecord where Wrapped: FetchableRecord & TableRecord {
        /// Creates the optional.
        public init(record: Wrapped?) { self = record }
    }

    extension SQLiteTransaction {
        /// The connection; records what is read from it if someone is observing.
        private func database(reading request: some DatabaseRegionConvertible) throws -> Database {
            guard let tracking = connection as? TrackingConnection else { return try database }
            let database = try SQLiteTransaction(tracking.connection).database
            tracking.record(try GRDBConnection(database: database).tables(in: request.databaseRegion(database)))
            return database
        }

        /// Returns the rows of a GRDB request.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` if the client uses another engine; errors of GRDB.
        public func fetchAll<Record: FetchableRecord>(_ request: QueryInterfaceRequest<Record>) throws -> [Record] {
            let database = try database(reading: request)
            return try request.fetchAll(database)
        }

        /// Returns the first row of a GRDB request.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` if the client uses another engine; errors of GRDB.
        public func fetchOne<Record: FetchableRecord>(_ request: QueryInterfaceRequest<Record>) throws -> Record? {
            let database = try database(reading: request)
            return try request.fetchOne(database)
        }
    }

    extension Database: FetchConnection {
        /// The connection of a transaction that runs on GRDB.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` if the client uses another engine.
        public static func connection(of transaction: SQLiteTransaction) throws -> Self {
            guard let database = try transaction.database as? Self else {
                throw SQLiteClientError(
                    .invalidArgument, "GRDB has another class of connections.", remedy: "Report this.")
            }
            return database
        }
    }
#endif
