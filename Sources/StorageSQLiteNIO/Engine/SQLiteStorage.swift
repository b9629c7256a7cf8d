#if SQLITE_ENGINE_SQLITENIO
    /// The location of a database.
    public enum SQLiteStorage: Hashable, Sendable {
        /// In memory, for a single connection.
        case memory
        /// In a file, which is created if it is missing.
        case file(path: String)
    }
#endif
