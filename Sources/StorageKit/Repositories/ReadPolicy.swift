/// Where a repository looks for an entity.
public enum ReadPolicy: Sendable, Hashable {
    /// In memory first, then in the database; what is found there is kept in memory.
    case localFirst
    /// In memory only.
    case memoryOnly
    /// In the database, whatever is in memory; what is found is kept.
    case database
    /// In the database, and nothing is kept.
    case uncached
}
