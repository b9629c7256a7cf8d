#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords
    internal import StorageSQLiteClient

    /// A compiled statement, with what it does.
    ///
    /// Not the `PreparedStatement` of StorageRecords: that compiles the first statement of a text and doesn't say where the
    /// next one begins.
    ///
    /// Sound as `@unchecked Sendable`: it is only touched by the jobs of its connection, of which one runs at a time; the
    /// cache asks for it.
    final class CompiledStatement: @unchecked Sendable {
        let pointer: OpaquePointer
        let parameterCount: Int
        var effects: StatementEffects
        /// How often SQLite had compiled it again when the columns were looked at.
        private var compilations: Int32 = 0
        private var columns: SQLiteRowLayout?

        init(_ pointer: OpaquePointer, _ effects: StatementEffects) {
            self.pointer = pointer
            self.effects = effects
            parameterCount = Int(sqlite3_bind_parameter_count(pointer))
        }

        deinit { sqlite3_finalize(pointer) }

        var row: RowReader { RowReader(statement: pointer) }
        var writer: RowWriter { RowWriter(statement: pointer) }

        /// The columns, which change where the schema does. Asked after the statement was stepped.
        var layout: SQLiteRowLayout {
            let compilations = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
            if let columns, compilations == self.compilations { return columns }
            let layout = SQLiteRowLayout(statement: pointer)
            (columns, self.compilations) = (layout, compilations)
            return layout
        }

        /// Ready to be run again; the arguments aren't kept.
        func reset() {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
    }
#endif
