/// The schema in which a snapshot is read.
public enum SnapshotSchema: Sendable, Hashable {
    /// The current schema: columns have their current names, later columns have their defaults, and converted columns hold
    /// converted values.
    case current
    /// The schema as it was recorded at that point.
    case asRecorded
}
