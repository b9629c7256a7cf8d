/// The schema in which a snapshot is read.
///
/// ```swift
/// let before = try await storage.asOf(.tag("release-3"), schema: .asRecorded)
/// let nicks = try await before.read(["users"]) { db in
///     try String.fetchAll(db, sql: "SELECT nick FROM users")  // a column that was dropped later
/// }
/// ```
public enum SnapshotSchema: Sendable, Hashable {
    /// The current schema: columns have their current names, later columns have their defaults, and converted columns hold
    /// converted values.
    case current
    /// The schema as it was recorded at that point.
    case asRecorded
}
