#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords
    internal import StorageSQLiteClient

    /// A compiled statement with its effects.
    ///
    /// Not the `PreparedStatement` of StorageRecords: that compiles the first statement of a text and doesn't report
    /// where the next one begins.
    ///
    /// Sound as `@unchecked Sendable`: it is only used by the jobs of its connection, which run one at a time; the
    /// cache requires the conformance.
    final class CompiledStatement: @unchecked Sendable {
        let pointer: OpaquePointer
        let parameterCount: Int
        var effects: StatementEffects
        /// SQLite's recompilation count when the columns were read.
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

        /// The columns, which change with the schema. Read after the statement was stepped.
        var layout: SQLiteRowLayout {
            let compilations = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
            if let columns, compilations == self.compilations { return columns }
            let layout = SQLiteRowLayout(statement: pointer)
            (columns, self.compilations) = (layout, compilations)
            return layout
        }

        /// Prepares it to run again; the arguments are cleared.
        func reset() {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
    }
#endif
