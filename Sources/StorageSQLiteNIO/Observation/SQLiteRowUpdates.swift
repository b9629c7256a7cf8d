#if SQLITE_ENGINE_SQLITENIO
    /// Which rows commits have changed, as ``SQLiteConnection/observeRows(_:maximumRows:)`` reports them.
    public struct SQLiteRowUpdates: Sendable, Hashable {
        /// One change of one row.
        public struct Row: Sendable, Hashable {
            public enum Kind: Sendable {
                case insert
                case update
                case delete
            }

            public var kind: Kind
            public var table: String
            public var rowID: Int64

            public init(_ kind: Kind, table: String, rowID: Int64) {
                self.kind = kind
                self.table = table
                self.rowID = rowID
            }
        }

        /// Changed rows, in the order of their changes.
        public var rows: [Row] = []
        /// Tables of which more may have changed than ``rows`` says: read them again.
        public var tables: Set<String> = []
    }

    extension SQLiteRowUpdates {
        var isEmpty: Bool { rows.isEmpty && tables.isEmpty }

        /// All that is known here is which tables are concerned.
        var withoutRows: SQLiteRowUpdates {
            SQLiteRowUpdates(tables: rows.reduce(into: tables) { $0.insert($1.table) })
        }

        /// Adds a change. Where there are too many, only their tables are kept.
        mutating func add(_ row: Row, limit: Int) {
            if tables.contains(row.table) { return }
            rows.append(row)
            if rows.count > limit { self = withoutRows }
        }

        mutating func add(_ other: SQLiteRowUpdates, limit: Int) {
            tables.formUnion(other.tables)
            for row in other.rows { add(row, limit: limit) }
        }
    }
#endif
