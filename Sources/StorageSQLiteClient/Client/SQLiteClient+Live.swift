extension SQLiteClient {
    /// A client that throws ``SQLiteClientError`` with `missing-dependency`, whatever it is asked.
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
        /// The engine that the package's traits choose: GRDB where its trait is enabled.
        public static var live: SQLiteClient { .grdb }
        /// A database in memory of its own, made when this is read.
        public static var test: SQLiteClient { .inMemory() }
        /// A database in memory of its own, made when this is read.
        public static var preview: SQLiteClient { .inMemory() }
    #endif
}

extension DependencyValues {
    /// The database of the task, whichever engine runs it.
    ///
    /// Where no client was given it is that of `\.defaultDatabase`, so that it suffices to give one of the two. Where neither
    /// is given it throws, but for previews of Xcode, where it is a database in memory.
    public var sqliteClient: SQLiteClient {
        get {
            #if SQLITE_ENGINE_GRDB
                // The database of these values, and not that of the task which uses the client: the two may differ.
                if !holds(SQLiteClientKey.self), holds(DefaultDatabaseKey.self) { return .grdb(defaultDatabase) }
            #endif
            return self[SQLiteClientKey.self]
        }
        set { self[SQLiteClientKey.self] = newValue }
    }
}

/// Where the NIO engine is the only one, its module puts the client here when it is given a connection.
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
