#if SQLITE_ENGINE_SQLITENIO
    /// The location of a database.
    ///
    /// ```swift
    /// let connection = try await SQLiteConnection.open(storage: .file(path: "app.sqlite"))
    /// ```
    public enum SQLiteStorage: Hashable, Sendable {
        /// In memory, for a single connection.
        case memory
        /// In a file, which is created if it is missing.
        case file(path: String)
    }
#endif
