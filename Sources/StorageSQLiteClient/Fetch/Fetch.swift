#if SQLITE_ENGINE_GRDB
    public import GRDB
#endif

/// What a request finds, live, as a property.
///
/// ```swift
/// @Fetch(Dashboard()) var dashboard = Dashboard.Value()
/// ```
///
/// The value is the initial one until the first read is done: `try await $dashboard.load()` waits for one. It follows the
/// task's `\.sqliteClient` for as long as somebody holds the property. An error keeps the value and is in
/// `$dashboard.loadError`.
@propertyWrapper
public struct Fetch<Value: Sendable>: Sendable {
    public let projectedValue: FetchState<Value>

    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init<Request: FetchKeyRequest>(
        wrappedValue: Value, _ request: Request, client: SQLiteClient? = nil
    ) where Request.Value == Value {
        projectedValue = FetchState(wrappedValue, client: client) { db in
            try request.fetch(try Request.Connection.connection(of: db))
        }
    }

    public var wrappedValue: Value { projectedValue.value }
}

/// The rows that a query finds, live, as a property.
///
/// ```swift
/// @FetchAll var items: [Item]
/// @FetchAll("SELECT name FROM users ORDER BY name") var names: [String]
/// ```
///
/// See ``Fetch`` for when it reads and what the projected value gives.
@propertyWrapper
public struct FetchAll<Element: Sendable>: Sendable {
    public let projectedValue: FetchState<[Element]>

    /// What a reading body finds.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: [Element] = [], client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> [Element]
    ) {
        projectedValue = FetchState(wrappedValue, client: client, body)
    }

    // Inits without arguments are only found in the declaration itself.
    #if SQLITE_ENGINE_GRDB
        /// All rows of a record's table.
        ///
        /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
        public init(wrappedValue: [Element] = [], client: SQLiteClient? = nil)
        where Element: FetchableRecord & TableRecord {
            self.init(wrappedValue: wrappedValue, client: client) { db in try db.fetchAll(Element.all()) }
        }
    #endif

    public var wrappedValue: [Element] { projectedValue.value }
}

/// The first row that a query finds, live, as a property.
///
/// ```swift
/// @FetchOne("SELECT count(*) FROM users") var count = 0
/// @FetchOne("SELECT * FROM users WHERE id = ?", [7]) var user: User?
/// ```
///
/// Where the value isn't optional, it is the initial one while no row is found. See ``Fetch`` for when it reads and what the
/// projected value gives.
@propertyWrapper
public struct FetchOne<Value: Sendable>: Sendable {
    public let projectedValue: FetchState<Value>

    /// What a reading body finds.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: Value, client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) {
        projectedValue = FetchState(wrappedValue, client: client, body)
    }

    #if SQLITE_ENGINE_GRDB
        /// The first row of a record's table; nil where there is none.
        ///
        /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
        public init(wrappedValue: Value = nil, client: SQLiteClient? = nil) where Value: OptionalRecord {
            self.init(wrappedValue: wrappedValue, client: client) { db in
                Value(record: try db.fetchOne(Value.Record.all()))
            }
        }
    #endif

    public var wrappedValue: Value { projectedValue.value }
}
