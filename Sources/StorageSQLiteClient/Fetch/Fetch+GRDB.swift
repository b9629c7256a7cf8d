#if SQLITE_ENGINE_GRDB
    public import GRDB

    extension FetchAll where Element: FetchableRecord & TableRecord {
        /// The rows of a request.
        ///
        /// - Parameters:
        ///   - request: Is made each time it is read.
        ///   - client: Where it reads; the task's `\.sqliteClient` where nil.
        public init(
            wrappedValue: [Element] = [], client: SQLiteClient? = nil,
            _ request: @escaping @Sendable () -> QueryInterfaceRequest<Element>
        ) { self.init(wrappedValue: wrappedValue, client: client) { db in try db.fetchAll(request()) } }
    }

    /// An optional record of GRDB: what ``FetchOne`` finds without a query.
    public protocol OptionalRecord: ExpressibleByNilLiteral {
        associatedtype Record: FetchableRecord & TableRecord
        init(record: Record?)
    }

    extension Optional: OptionalRecord where Wrapped: FetchableRecord & TableRecord {
        public init(record: Wrapped?) { self = record }
    }

    extension SQLiteTransaction {
        /// The connection, with a note of what is read from it where somebody follows that.
        private func database(reading request: some DatabaseRegionConvertible) throws -> Database {
            guard let tracking = connection as? TrackingConnection else { return try database }
            let database = try SQLiteTransaction(tracking.connection).database
            tracking.note(try GRDBConnection(database: database).tables(in: request.databaseRegion(database)))
            return database
        }

        /// The rows of a request of GRDB.
        public func fetchAll<Record: FetchableRecord>(_ request: QueryInterfaceRequest<Record>) throws -> [Record] {
            let database = try database(reading: request)
            return try request.fetchAll(database)
        }

        /// The first row of a request of GRDB.
        public func fetchOne<Record: FetchableRecord>(_ request: QueryInterfaceRequest<Record>) throws -> Record? {
            let database = try database(reading: request)
            return try request.fetchOne(database)
        }
    }

    extension Database: FetchConnection {
        public static func connection(of transaction: SQLiteTransaction) throws -> Self {
            guard let database = try transaction.database as? Self else {
                throw SQLiteClientError(
                    .invalidArgument, "GRDB has another class of connections.", remedy: "Report this.")
            }
            return database
        }
    }
#endif
