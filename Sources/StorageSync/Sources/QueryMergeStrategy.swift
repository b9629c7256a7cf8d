public import StorageEntities

/// What becomes of the rows that a remote answers.
///
/// A row that was changed or deleted in the store after the request began stays as it is, whatever the strategy: the answer may be
/// older than the change. So does a row that a sync engine had still to send then.
public enum QueryMergeStrategy<Element: RegisteredEntity>: Sendable {
    /// Fetched rows are saved; rows of the query that the remote doesn't have are deleted. Where the query has a limit, only rows
    /// that sort between the first and the last fetched one are, because the remote says nothing of the others.
    case replace
    /// Fetched rows are saved, and none is deleted.
    case upsert
    /// Fetched rows that the store doesn't have are saved; those that it has stay as they are.
    case append
    /// What is saved is decided row by row. It gets the stored row, nil where there is none, and the fetched one, and answers what
    /// to save; nil leaves the store as it is. None is deleted.
    ///
    /// It runs inside of the commit, maybe more than once, so let it only compute.
    case custom(@Sendable (_ stored: Element?, _ fetched: Element) -> Element?)
}
