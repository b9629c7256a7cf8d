#if SQLITE_ENGINE_GRDB
    public import GRDB
#endif
#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// What a request finds, live, as a property.
///
/// ```swift
/// @Fetch(Dashboard()) var dashboard = Dashboard.Value()
/// ```
///
/// The value is the initial one until the first read is done: `try await $dashboard.load()` waits for one. The first access
/// begins to read; from then on it follows the `\.sqliteClient` of the task that declared it for as long as somebody holds the
/// property, in SwiftUI as long as the view is on the screen. An error keeps the value and is in `$dashboard.loadError`.
@propertyWrapper
public struct Fetch<Value: Sendable>: Sendable {
    @FetchHolder private var state: FetchState<Value>

    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init<Request: FetchKeyRequest>(
        wrappedValue: Value, _ request: Request, client: SQLiteClient? = nil
    ) where Request.Value == Value {
        let state = FetchState(wrappedValue, client: client) { db in
            try request.fetch(try Request.Connection.connection(of: db))
        }
        _state = FetchHolder(wrappedValue: state)
    }

    public var wrappedValue: Value { state.value }
    public var projectedValue: FetchState<Value> { state }
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
    @FetchHolder private var state: FetchState<[Element]>

    /// What a reading body finds.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: [Element] = [], client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> [Element]
    ) {
        _state = FetchHolder(wrappedValue: FetchState(wrappedValue, client: client, body))
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

    public var wrappedValue: [Element] { state.value }
    public var projectedValue: FetchState<[Element]> { state }
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
    @FetchHolder private var state: FetchState<Value>

    /// What a reading body finds.
    ///
    /// - Parameter client: Where it reads; the task's `\.sqliteClient` where nil.
    public init(
        wrappedValue: Value, client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) {
        _state = FetchHolder(wrappedValue: FetchState(wrappedValue, client: client, body))
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

    public var wrappedValue: Value { state.value }
    public var projectedValue: FetchState<Value> { state }
}

#if canImport(SwiftUI)
    /// Keeps what was fetched as long as the view on the screen lives, however often its struct is created again.
    typealias FetchHolder<Value: Sendable> = SwiftUI.State<FetchState<Value>>

    extension Fetch: DynamicProperty {}
    extension FetchAll: DynamicProperty {}
    extension FetchOne: DynamicProperty {}
#else
    /// Keeps what was fetched as long as its owner lives. Where there is SwiftUI, this is its `State`.
    @propertyWrapper
    struct FetchHolder<Value: Sendable>: Sendable {
        let wrappedValue: FetchState<Value>
    }
#endif
