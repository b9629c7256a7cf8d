// Converting a number that a double can't hold as a duration, and sleeping beyond the end of a clock, end the process.
extension Duration {
    /// A century: a longer time means never.
    private static var century: Duration { .seconds(3_153_600_000) }

    /// The duration, but at most a century, so that every clock can add it to its time.
    package var limited: Duration { min(self, Self.century) }

    /// A number of seconds, limited to a century in both directions; zero for NaN.
    package static func limited(seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        let limit = century / .seconds(1)
        return .seconds(min(max(seconds, -limit), limit))
    }
}
