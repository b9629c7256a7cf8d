#if SQLITE_ENGINE_SQLITENIO
    /// Where a database is.
    public enum SQLiteStorage: Hashable, Sendable {
        /// In memory, for one connection alone.
        case memory
        /// In a file, which is made where it isn't there.
        case file(path: String)
    }
#endif
