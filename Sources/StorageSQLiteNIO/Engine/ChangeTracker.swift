#if SQLITE_ENGINE_SQLITENIO
    /// The tables that the transaction under way has changed.
    ///
    /// What was changed is known by the statement: SQLite says which tables a statement may change when it compiles it,
    /// and counts the rows that it has changed, those of triggers and foreign keys with it. So no row costs anything, and
    /// what the update hook isn't called for is seen, too: tables without rowids, deleting all rows at once, rows that a
    /// conflict replaces. The price: of a statement with triggers each table counts that it could have changed.
    ///
    /// Rows are known beside that, as far as somebody observes them.
    struct ChangeTracker {
        private var changes = CommittedChanges()
        /// What was changed before each savepoint, the outermost first.
        private var savepoints: [(name: String, changes: CommittedChanges)] = []

        struct Ended {
            var effects: StatementEffects
            var hasChangedRows: Bool
            /// The rows that it has changed; nil where not all of them were seen.
            var rows: SQLiteRowUpdates?
            var hasSucceeded: Bool
            /// Whether a transaction was open before the statement, and whether one is now.
            var wasInTransaction: Bool
            var isInTransaction: Bool
        }

        /// - Parameter rowLimit: The most rows that are kept.
        /// - Returns: What was changed by what is committed now.
        mutating func note(_ ended: Ended, rowLimit: Int) -> CommittedChanges {
            if ended.hasChangedRows || ended.effects.changesSchema {
                changes.tables.formUnion(ended.effects.tables)
                let rows = ended.effects.changesSchema ? nil : ended.rows
                changes.rows.add(rows ?? SQLiteRowUpdates(tables: ended.effects.tables), limit: rowLimit)
            }
            if ended.hasSucceeded { follow(ended.effects.control) }
            guard !ended.isInTransaction else { return CommittedChanges() }
            defer { self = ChangeTracker() }
            guard ended.wasInTransaction else { return changes }
            // A statement that fails and ends the transaction has undone it.
            return ended.hasSucceeded && ended.effects.control != .rollback ? changes : CommittedChanges()
        }

        private mutating func follow(_ control: StatementEffects.Control) {
            switch control {
            case .none, .begin, .commit, .rollback: break
            case .savepoint(let name): savepoints.append((name, changes))
            case .release(let name):
                guard let index = savepoints.lastIndex(where: { $0.name == name }) else { return }
                savepoints.removeSubrange(index...)
            case .rollbackTo(let name):
                guard let index = savepoints.lastIndex(where: { $0.name == name }) else { return }
                changes = savepoints[index].changes
                savepoints.removeSubrange((index + 1)...)
            }
        }
    }
#endif
