#if SQLITE_ENGINE_SQLITENIO
    /// The rows that commits have changed, as reported by ``SQLiteConnection/observeRows(_:maximumRows:)``.
    ///
    /// ```swift
    /// for await updates in connection.observeRows(["users"]) {
    ///     for row in updates.rows { print(row.kind, row.table, row.rowID) }
    /// }
    /// ```
    public struct SQLiteRowUpdates: Sendable, Hashable {
        /// A change of one row.
        public struct Row: Sendable, Hashable {
            /// The kind of a change.
            public enum Kind: Sendable {
                /// The row was inserted.
                case insert
                /// The row was updated.
                case update
                /// The row was deleted.
                case delete
            }

            /// The kind of the change.
            public var kind: Kind
            /// The name of the table.
            public var table: String
            /// The rowid of the row.
            public var rowID: Int64

            /// Creates a change.
            public init(_ kind: Kind, table: String, rowID: Int64) {
                self.kind = kind
                self.table = table
                self.rowID = rowID
            }
        }

        /// Changed rows, in the order of their changes.
        public var rows: [Row] = []
        /// Tables in which more rows may have changed than ``rows`` contains: read them again.
        public var tables: Set<String> = []
    }

    extension SQLiteRowUpdates {
        var isEmpty: Bool { rows.isEmpty && tables.isEmpty }

        /// The same changes, reduced to tables.
        var withoutRows: SQLiteRowUpdates {
            SQLiteRowUpdates(tables: rows.reduce(into: tables) { $0.insert($1.table) })
        }

        /// Adds a change. Beyond the limit, only tables are kept.
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
