#if SQLITE_ENGINE_SQLITENIO
    /// What commits have changed.
    struct CommittedChanges {
        var tables: Set<String> = []
        /// Rows, and the tables of which not each change is known by row.
        var rows = SQLiteRowUpdates()
    }
#endif
