#if SQLITE_ENGINE_SQLITENIO
    public import StorageCore
    public import StorageRecords
    public import StorageSQLiteClient

    /// A copied row of a query's result: it may be passed to other tasks and outlive the connection.
    ///
    /// ```swift
    /// for row in try await connection.query("SELECT id, name FROM users") {
    ///     print(try row.value(Int64.self, "id"), row["name"] ?? .null)
    /// }
    /// ```
    public struct SQLiteStoredRow: Sendable {
        /// The names of the columns, shared by the rows of a query.
        public let layout: SQLiteRowLayout
        /// The columns' values in their storage classes, in order.
        public let values: [StorageValue]

        /// Creates a row from values, for example in a test.
        public init(layout: SQLiteRowLayout, values: [StorageValue]) {
            self.layout = layout
            self.values = values
        }

        init(_ row: SQLiteRow, layout: SQLiteRowLayout) {
            self.init(layout: layout, values: layout.names.indices.map { row[$0] })
        }

        /// The names of the columns, in order.
        public var columns: [String] { layout.names }

        /// A column's value, by name; nil if there is no such column. If names are repeated, the first column counts.
        public subscript(name: String) -> StorageValue? { layout.index(of: name).map { values[Int($0)] } }

        /// A column's value, by index, from 0.
        public subscript(index: Int) -> StorageValue { values[index] }

        /// Returns a column's value as a Swift value, by index.
        ///
        /// - Throws: `StorageError` with `invalidValue` if the column's value isn't of this type.
        public func value<Value: StorageColumnValue>(_ type: Value.Type, at index: Int) throws -> Value {
            try Value(storageValue: values[index])
        }

        /// Returns a column's value as a Swift value, by name.
        ///
        /// - Throws: ``SQLiteClientError`` with `column` if there is no column with this name; `StorageError` with
        ///   `invalidValue` if its value isn't of this type.
        public func value<Value: StorageColumnValue>(_ type: Value.Type, _ name: String) throws -> Value {
            guard let value = self[name] else { throw SQLiteClientError.noColumn(name, among: columns) }
            return try Value(storageValue: value)
        }
    }
#endif
