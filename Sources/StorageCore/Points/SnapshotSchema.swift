/// The schema in which a snapshot is read.
public enum SnapshotSchema: Sendable, Hashable {
    /// The current schema: columns under their current names, later columns with their defaults, and converted columns
    /// converted.
    case current
    /// The schema as it was recorded at that point.
    case asRecorded
}
