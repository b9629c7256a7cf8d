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
    /// Whether the first read of a query can't succeed later either: until one has succeeded, an error of SQLite or an exceeded
    /// limit means that the statement itself is wrong.
    package var isFinalOfFirstRead: Bool {
        [.closed, .invalidName, .invalidQuery, .invalidArgument, .notFound, .database, .limitExceeded].contains(code)
    }
}
