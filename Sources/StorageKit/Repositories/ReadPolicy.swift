/// Where a repository looks for an entity.
///
/// ```swift
/// let cached = try await users.get(id: "1", policy: .memoryOnly)
/// let stored = try await users.get(id: "1", policy: .database)
/// ```
public enum ReadPolicy: Sendable, Hashable {
    /// In memory first, then in the database; an entity found there is kept in memory.
    case localFirst
    /// In memory only.
    case memoryOnly
    /// In the database, even if memory has it; an entity found there is kept in memory.
    case database
    /// In the database; nothing is kept in memory.
    case uncached
}
