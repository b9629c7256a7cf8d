#if SQLITE_ENGINE_SQLITENIO
    public import StorageCore
    public import StorageRecords
    public import StorageSQLiteClient

    /// A row that a query has found, copied: it may go to other tasks and outlive the connection.
    ///
    /// ```swift
    /// for row in try await connection.query("SELECT id, name FROM users") {
    ///     print(try row.value(Int64.self, "id"), row["name"] ?? .null)
    /// }
    /// ```
    public struct SQLiteStoredRow: Sendable {
        /// The names of the columns, shared by the rows of a query.
        public let layout: SQLiteRowLayout
        /// The columns in their storage classes, in order.
        public let values: [StorageValue]

        public init(layout: SQLiteRowLayout, values: [StorageValue]) {
            self.layout = layout
            self.values = values
        }

        init(_ row: SQLiteRow, layout: SQLiteRowLayout) {
            self.init(layout: layout, values: layout.names.indices.map { row[$0] })
        }

        /// The names of the columns, in order.
        public var columns: [String] { layout.names }

        /// A column by its name; nil where no column has it. Of columns of the same name the first counts.
        public subscript(name: String) -> StorageValue? { layout.index(of: name).map { values[Int($0)] } }

        /// A column by its index, from 0.
        public subscript(index: Int) -> StorageValue { values[index] }

        /// A column by its index, as a Swift value.
        ///
        /// - Throws: `StorageError` with `invalidValue` where the column holds something else.
        public func value<Value: StorageColumnValue>(_ type: Value.Type, at index: Int) throws -> Value {
            try Value(storageValue: values[index])
        }

        /// A column by its name, as a Swift value.
        ///
        /// - Throws: ``SQLiteClientError`` with `column` where no column has this name; `StorageError` with `invalidValue`
        ///   where it holds something else.
        public func value<Value: StorageColumnValue>(_ type: Value.Type, _ name: String) throws -> Value {
            guard let value = self[name] else { throw SQLiteClientError.noColumn(name, among: columns) }
            return try Value(storageValue: value)
        }
    }
#endif
