#if SQLITE_ENGINE_SQLITENIO
    /// The tables that the transaction under way has changed.
    ///
    /// What was changed is known by the statement: SQLite says which tables a statement may change when it compiles it,
    /// and counts the rows that it has changed, those of triggers and foreign keys with it. So no row costs anything, and
    /// what the update hook isn't called for is seen, too: tables without rowids, deleting all rows at once, rows that a
    /// conflict replaces. The price: of a statement with triggers each table counts that it could have changed.
    struct ChangeTracker {
        private var tables: Set<String> = []
        /// The tables that were changed before each savepoint, the outermost first.
        private var savepoints: [(name: String, tables: Set<String>)] = []

        struct Ended {
            var effects: StatementEffects
            var hasChangedRows: Bool
            var hasSucceeded: Bool
            /// Whether a transaction was open before the statement, and whether one is now.
            var wasInTransaction: Bool
            var isInTransaction: Bool
        }

        /// - Returns: The tables that were changed by what is committed now.
        mutating func note(_ ended: Ended) -> Set<String> {
            if ended.hasChangedRows || ended.effects.changesSchema { tables.formUnion(ended.effects.tables) }
            if ended.hasSucceeded { follow(ended.effects.control) }
            guard !ended.isInTransaction else { return [] }
            defer { self = ChangeTracker() }
            guard ended.wasInTransaction else { return tables }
            // A statement that fails and ends the transaction has undone it.
            return ended.hasSucceeded && ended.effects.control != .rollback ? tables : []
        }

        private mutating func follow(_ control: StatementEffects.Control) {
            switch control {
            case .none, .begin, .commit, .rollback: break
            case .savepoint(let name): savepoints.append((name, tables))
            case .release(let name):
                guard let index = savepoints.lastIndex(where: { $0.name == name }) else { return }
                savepoints.removeSubrange(index...)
            case .rollbackTo(let name):
                guard let index = savepoints.lastIndex(where: { $0.name == name }) else { return }
                tables = savepoints[index].tables
                savepoints.removeSubrange((index + 1)...)
            }
        }
    }
#endif
