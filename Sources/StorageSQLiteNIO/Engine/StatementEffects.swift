#if SQLITE_ENGINE_SQLITENIO
    /// The possible effects of a statement, as SQLite's authorizer reported them during compilation.
    struct StatementEffects: Equatable {
        enum Control: Equatable {
            case none
            case begin
            case commit
            case rollback
            case savepoint(String)
            case release(String)
            case rollbackTo(String)
        }

        var control = Control.none
        /// The tables of the main database that it inserts into, updates or deletes from, including triggers and
        /// foreign keys.
        var tables: Set<String> = []
        /// Whether it changes the schema: SQLite then counts no changed rows.
        var changesSchema = false
        /// Why it is refused, whatever SQLite says.
        var refusal: Refusal?

        /// Whether it begins or ends a whole transaction.
        var controlsTransaction: Bool { [.begin, .commit, .rollback].contains(control) }

        enum Refusal: Equatable {
            /// Attaching a store would open it for writing, and a name that isn't a literal path can't be checked.
            case attaches(String?)
        }
    }
#endif
