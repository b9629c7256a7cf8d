public import StorageRecords

extension FetchAll where Element: StorageColumnValue {
    /// The first column of each row.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: [Element] = [], _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) { self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchAll(sql, arguments, as: Element.self) } }
}

extension FetchAll where Element: Decodable {
    /// Each row, decoded by the names of its columns.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    @_disfavoredOverload
    public init(
        wrappedValue: [Element] = [], _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) { self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchAll(sql, arguments, as: Element.self) } }
}

extension FetchOne where Value: StorageColumnValue {
    /// The first column of the first row.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: Value, _ sql: String, _ arguments: [any StorageColumnValue] = [], client: SQLiteClient? = nil
    ) {
        self.init(wrappedValue: wrappedValue, client: client) {
            try $0.fetchOne(sql, arguments, as: Value.self) ?? wrappedValue
        }
    }
}

extension FetchOne where Value: Decodable {
    /// The first row, decoded by the names of its columns; nil where there is none.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    @_disfavoredOverload
    public init<Row: Decodable>(
        wrappedValue: Row? = nil, _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) where Value == Row? {
        self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchOne(sql, arguments, as: Row.self) }
    }
}
