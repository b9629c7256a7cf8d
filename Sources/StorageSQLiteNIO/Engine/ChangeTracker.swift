#if SQLITE_ENGINE_SQLITENIO
    /// The tables that the current transaction has changed.
    ///
    /// Changes are derived from statements: SQLite reports which tables a statement may change when it compiles it, and
    /// counts the changed rows, including those of triggers and foreign keys. So there is no cost for each row, and
    /// changes without a call of the update hook are seen, too: `WITHOUT ROWID` tables, deleting all rows at once, rows
    /// that a conflict replaces. The price: for a statement with triggers, each table that it could have changed
    /// counts.
    ///
    /// Rows are tracked in addition, if someone observes them.
    struct ChangeTracker {
        private var changes = CommittedChanges()
        /// The changes before each savepoint, outermost first.
        private var savepoints: [(name: String, changes: CommittedChanges)] = []

        struct Ended {
            var effects: StatementEffects
            var hasChangedRows: Bool
            /// The changed rows; nil if not all of them were seen.
            var rows: SQLiteRowUpdates?
            var hasSucceeded: Bool
            /// Whether a transaction was open before the statement, and whether one is open now.
            var wasInTransaction: Bool
            var isInTransaction: Bool
        }

        /// - Parameter rowLimit: The maximum number of rows to keep.
        /// - Returns: The changes that are now committed.
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
            // A failed statement that ends the transaction has rolled it back.
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
