public import StorageEntities

/// How fetched rows are merged into the store.
///
/// ```swift
/// QuerySource(Task.all())
///     .remote(merge: .custom { stored, fetched in stored.map { $0.isPinned ? $0 : fetched } ?? fetched }) {
///         try await api.tasks()
///     }
/// ```
///
/// Whatever the strategy, a row that was changed or deleted in the store after the request began isn't touched, since
/// the answer may be older than the change. Neither is a row that a sync engine had yet to send.
public enum QueryMergeStrategy<Element: RegisteredEntity>: Sendable {
    /// Saves fetched rows, and deletes rows of the query that the remote doesn't have. If the query has a limit, only
    /// rows that sort between the first and the last fetched one are deleted, because the answer doesn't cover the
    /// others.
    case replace
    /// Saves fetched rows, and deletes none.
    case upsert
    /// Saves fetched rows that the store doesn't have; existing ones aren't changed.
    case append
    /// Decides row by row. The closure receives the stored row, or nil if there is none, and the fetched one, and
    /// returns the row to save; nil leaves the store unchanged. No row is deleted.
    ///
    /// The closure runs inside of the commit, possibly more than once, so it must not have side effects.
    case custom(@Sendable (_ stored: Element?, _ fetched: Element) -> Element?)
}
