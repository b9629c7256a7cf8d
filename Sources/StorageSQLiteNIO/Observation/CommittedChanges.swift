#if SQLITE_ENGINE_SQLITENIO
    /// The changes of commits.
    struct CommittedChanges {
        var tables: Set<String> = []
        /// Changed rows, and the tables whose changes aren't all known by row.
        var rows = SQLiteRowUpdates()
    }
#endif
