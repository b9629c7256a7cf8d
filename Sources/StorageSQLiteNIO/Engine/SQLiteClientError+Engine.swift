#if SQLITE_ENGINE_SQLITENIO
    internal import StorageSQLiteClient

    extension SQLiteClientError {
        static var closed: SQLiteClientError {
            SQLiteClientError(.closed, "The connection is closed.", remedy: "Open another one.")
        }

        static var noStatement: SQLiteClientError {
            SQLiteClientError(.sql, "The text has no statement.", remedy: "Give one, or no arguments.")
        }

        static var severalStatementsWithArguments: SQLiteClientError {
            SQLiteClientError(
                .sql, "Arguments were passed to several statements.", remedy: "Run them one by one, each with its own.")
        }

        static func argumentCount(_ count: Int, placeholders: Int) -> SQLiteClientError {
            SQLiteClientError(
                .sql, "The statement has \(placeholders) placeholders and was given \(count) arguments.",
                remedy: "Give as many arguments as the statement has placeholders.")
        }

        static var transactionIsOver: SQLiteClientError {
            SQLiteClientError(
                .invalidArgument, "The transaction of this connection is over.",
                remedy:
                    "Use the connection in the transaction's body only, and let its errors leave the body: after some SQLite has undone all of it."
            )
        }

        static var leftTransactionOpen: SQLiteClientError {
            SQLiteClientError(
                .invalidArgument, "The statements left a transaction open, which was rolled back.",
                remedy: "Use `transaction`, which keeps the statements of other tasks out of it.")
        }

        static var deadlock: SQLiteClientError {
            SQLiteClientError(
                .invalidArgument, "The call would wait for the body that makes it.",
                remedy: "Inside a body use the connection that the body was given.")
        }

        static var waitsForOwnStream: SQLiteClientError {
            SQLiteClientError(
                .invalidArgument, "The call would wait for a stream of rows that the same task reads.",
                remedy: "Read the rows with `query` first, or use another connection.")
        }

        static var streamIsOver: SQLiteClientError {
            SQLiteClientError(
                .closed, "The connection was closed, or the transaction ended, before the stream of rows did.",
                remedy: "Read the stream to its end before.")
        }

        static var bodyIsOver: SQLiteClientError {
            SQLiteClientError(
                .invalidArgument, "The body that this connection was given to is over.",
                remedy: "Use the connection in the body only.")
        }

        static var tooManyWaiters: SQLiteClientError {
            SQLiteClientError(
                .busy, "Too many calls wait for a connection.",
                remedy: "Try again later, or raise `maximumWaiters`.")
        }

        static func attaching(_ path: String?) -> SQLiteClientError {
            if let path {
                return SQLiteClientError(
                    .readOnly, "\(path) is a StorageKit store, which can't be attached.",
                    remedy: "Open it as a connection of its own to read it, and write through the store.")
            }
            return SQLiteClientError(
                .invalidArgument, "The name of the file to attach isn't a literal, or is a URI.",
                remedy: "Write the name into the statement."
            )
        }

        static func disturbed(resultCode: Int32?) -> SQLiteClientError {
            SQLiteClientError(
                .busy, "A writer opened the store while it was read.", remedy: "Read again.", resultCode: resultCode)
        }

        static func noIndex(_ path: String) -> SQLiteClientError {
            SQLiteClientError(
                .busy,
                "\(path), a StorageKit store, has a write-ahead log without an index, which reading would create.",
                remedy: "Open it as a store once.", resultCode: 5)
        }

        static var connectionOnlyReads: SQLiteClientError {
            SQLiteClientError(
                .readOnly, "The connection was opened for reading only.",
                remedy: "Open it for writing to change something.")
        }

        static var bodyOnlyReads: SQLiteClientError {
            SQLiteClientError(
                .readOnly, "A statement in a reading body changes something.", remedy: "Change the database in `write`."
            )
        }

        /// Whether repeating the call can succeed; other kinds of busy require a new transaction.
        var isWorthWaiting: Bool { resultCode == 5 || resultCode == 261 || resultCode == 262 }
    }
#endif
