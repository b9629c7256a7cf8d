/// In which shape the past is read.
public enum SnapshotSchema: Sendable, Hashable {
    /// As the entities are now: columns by the names that they have now, those that came later with their defaults, and
    /// converted ones put through their conversion.
    case current
    /// As the entities were then, by the names of then.
    case asRecorded
}
