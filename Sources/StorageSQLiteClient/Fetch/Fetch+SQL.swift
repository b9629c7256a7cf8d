public import StorageRecords

extension FetchAll where Element: StorageColumnValue {
    /// Fetches the first column of each row.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    public init(
        wrappedValue: [Element] = [], _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) { self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchAll(sql, arguments, as: Element.self) } }
}

extension FetchAll where Element: Decodable {
    /// Fetches each row, decoded by column names.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    @_disfavoredOverload
    public init(
        wrappedValue: [Element] = [], _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) { self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchAll(sql, arguments, as: Element.self) } }
}

extension FetchOne where Value: StorageColumnValue {
    /// Fetches the first column of the first row.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    public init(
        wrappedValue: Value, _ sql: String, _ arguments: [any StorageColumnValue] = [], client: SQLiteClient? = nil
    ) {
        self.init(wrappedValue: wrappedValue, client: client) {
            try $0.fetchOne(sql, arguments, as: Value.self) ?? wrappedValue
        }
    }
}

extension FetchOne where Value: Decodable {
    /// Fetches the first row, decoded by column names; nil if there is none.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    @_disfavoredOverload
    public init<Row: Decodable>(
        wrappedValue: Row? = nil, _ sql: String, _ arguments: [any StorageColumnValue] = [],
        client: SQLiteClient? = nil
    ) where Value == Row? {
        self.init(wrappedValue: wrappedValue, client: client) { try $0.fetchOne(sql, arguments, as: Row.self) }
    }
}
