extension ClosedRange<Int64> {
    /// Positions of the log as text: `@101..@140`, or `@101` for a single event.
    package var positionText: String { count == 1 ? "@\(lowerBound)" : "@\(lowerBound)..@\(upperBound)" }
}
