extension SQLiteClient {
    /// Returns a client whose calls all throw ``SQLiteClientError`` with `missing-dependency`.
    ///
    /// - Parameter message: What is missing, in one sentence.
    public static func unimplemented(
        _ message: String = "No SQLiteClient was given.",
        remedy: String = "Give one: `withDependencies { $0.sqliteClient = … } operation: { … }`."
    ) -> SQLiteClient {
        let error = SQLiteClientError(.missingDependency, message, remedy: remedy)
        return SQLiteClient(
            read: { _ in throw error }, write: { _ in throw error }, contextSensitivePath: { throw error },
            observeTables: { _ in throw error })
    }

    #if SQLITE_ENGINE_GRDB
        /// The engine chosen by the package's traits: GRDB if its trait is enabled.
        public static var live: SQLiteClient { .grdb }
        /// A new in-memory database, created when this is read.
        public static var test: SQLiteClient { .inMemory() }
        /// A new in-memory database, created when this is read.
        public static var preview: SQLiteClient { .inMemory() }
    #endif
}

extension DependencyValues {
    /// The database of the task, whichever engine runs it.
    ///
    /// Defaults to the database of `\.defaultDatabase`, so that setting one of the two is enough. If neither is set it
    /// throws, except in Xcode previews, where it is an in-memory database.
    public var sqliteClient: SQLiteClient {
        get {
            #if SQLITE_ENGINE_GRDB
                // The database of these values, and not of the task that uses the client: the two may differ.
                if !holds(SQLiteClientKey.self), holds(DefaultDatabaseKey.self) { return .grdb(defaultDatabase) }
            #endif
            return self[SQLiteClientKey.self]
        }
        set { self[SQLiteClientKey.self] = newValue }
    }
}

/// If the NIO engine is the only one, its module sets the client here when it receives a connection.
package enum SQLiteClientKey: DependencyKey {
    #if SQLITE_ENGINE_GRDB
        package static let liveValue = SQLiteClient.grdb
        package static var previewValue: SQLiteClient { .preview }
        package static var testValue: SQLiteClient { liveValue }
    #else
        package static let liveValue = SQLiteClient.unimplemented(
            "No engine of SQLiteClient was given.",
            remedy: "Import StorageSQLiteNIO and `prepareDependencies { $0.defaultSQLiteConnection = … }`.")
    #endif
}
