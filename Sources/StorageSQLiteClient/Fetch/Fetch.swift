#if SQLITE_ENGINE_GRDB
    public import GRDB
#endif
#if canImport(SwiftUI)
    public import SwiftUI
#endif

/// The live value of a request, as a property.
///
/// ```swift
/// @Fetch(Dashboard()) var dashboard = Dashboard.Value()
/// ```
///
/// The property has its initial value until the first read is done: `try await $dashboard.load()` waits for one. The
/// first access starts reading; from then on the property follows the `\.sqliteClient` of the task that declared it,
/// for as long as it is referenced, in SwiftUI as long as the view is on the screen. An error keeps the value and is
/// available as `$dashboard.loadError`.
@propertyWrapper
public struct Fetch<Value: Sendable>: Sendable {
    @FetchHolder private var state: FetchState<Value>

    /// Fetches a request's value.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    public init<Request: FetchKeyRequest>(
        wrappedValue: Value, _ request: Request, client: SQLiteClient? = nil
    ) where Request.Value == Value {
        let state = FetchState(wrappedValue, client: client) { db in
            try request.fetch(try Request.Connection.connection(of: db))
        }
        _state = FetchHolder(wrappedValue: state)
    }

    /// The value that was fetched last.
    public var wrappedValue: Value { state.value }
    /// The state of the fetch.
    public var projectedValue: FetchState<Value> { state }
}

/// The live rows of a query, as a property.
///
/// ```swift
/// @FetchAll var items: [Item]
/// @FetchAll("SELECT name FROM users ORDER BY name") var names: [String]
/// ```
///
/// See ``Fetch`` for when it reads and what the projected value provides.
@propertyWrapper
public struct FetchAll<Element: Sendable>: Sendable {
    @FetchHolder private var state: FetchState<[Element]>

    /// Fetches the result of a reading body.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    public init(
        wrappedValue: [Element] = [], client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> [Element]
    ) {
        _state = FetchHolder(wrappedValue: FetchState(wrappedValue, client: client, body))
    }

    // Initializers without arguments are only found in the declaration itself.
    #if SQLITE_ENGINE_GRDB
        /// Fetches all rows of a record's table.
        ///
        /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
        public init(wrappedValue: [Element] = [], client: SQLiteClient? = nil)
        where Element: FetchableRecord & TableRecord {
            self.init(wrappedValue: wrappedValue, client: client) { db in try db.fetchAll(Element.all()) }
        }
    #endif

    /// The rows that were fetched last.
    public var wrappedValue: [Element] { state.value }
    /// The state of the fetch.
    public var projectedValue: FetchState<[Element]> { state }
}

/// The live first row of a query, as a property.
///
/// ```swift
/// @FetchOne("SELECT count(*) FROM users") var count = 0
/// @FetchOne("SELECT * FROM users WHERE id = ?", [7]) var user: User?
/// ```
///
/// A value that isn't optional keeps its initial value while there is no row. See ``Fetch`` for when it reads and what
/// the projected value provides.
@propertyWrapper
public struct FetchOne<Value: Sendable>: Sendable {
    @FetchHolder private var state: FetchState<Value>

    /// Fetches the result of a reading body.
    ///
    /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
    public init(
        wrappedValue: Value, client: SQLiteClient? = nil,
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) {
        _state = FetchHolder(wrappedValue: FetchState(wrappedValue, client: client, body))
    }

    #if SQLITE_ENGINE_GRDB
        /// Fetches the first row of a record's table; nil if there is none.
        ///
        /// - Parameter client: The client to read from; the task's `\.sqliteClient` if nil.
        public init(wrappedValue: Value = nil, client: SQLiteClient? = nil) where Value: OptionalRecord {
            self.init(wrappedValue: wrappedValue, client: client) { db in
                Value(record: try db.fetchOne(Value.Record.all()))
            }
        }
    #endif

    /// The value that was fetched last.
    public var wrappedValue: Value { state.value }
    /// The state of the fetch.
    public var projectedValue: FetchState<Value> { state }
}

#if canImport(SwiftUI)
    /// Keeps the fetched value as long as the view is on the screen, however often its struct is created again.
    typealias FetchHolder<Value: Sendable> = SwiftUI.State<FetchState<Value>>

    extension Fetch: DynamicProperty {}
    extension FetchAll: DynamicProperty {}
    extension FetchOne: DynamicProperty {}
#else
    /// Keeps the fetched value as long as its owner lives. With SwiftUI, this is its `State`.
    @propertyWrapper
    struct FetchHolder<Value: Sendable>: Sendable {
        let wrappedValue: FetchState<Value>
    }
#endif
