package import StorageCore

extension Error {
    /// The error as a view shows it.
    package var forSubscribers: StorageError {
        self as? StorageError
            ?? StorageError(
                .invalidArgument, "A row can't be read: \(self)", remedy: "Correct how the entity is read.", cause: self
            )
    }
}

extension StorageError {
    /// Whether a retry can't succeed.
    package var isFinal: Bool { [.closed, .invalidName, .invalidQuery, .invalidArgument, .notFound].contains(code) }

    /// Whether it ends a sequence whose first read it is: an error of SQLite or an exceeded limit most likely means that the
    /// statement is wrong. Views show it and retry, as it may depend on the rows.
    package var isFinalOfFirstRead: Bool { isFinal || [.database, .limitExceeded].contains(code) }
}
