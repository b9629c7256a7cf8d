/// Lengths of time for people: `1 d 3 h`, `12 m`, `350 ms`.
enum Age {
    private static let units: [(name: String, microseconds: UInt64)] = [
        ("y", 365 * 86_400_000_000), ("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000),
        ("s", 1_000_000), ("ms", 1000), ("µs", 1),
    ]

    /// Returns at most the two largest adjacent units that aren't zero, truncated, not rounded; a year has 365 days. Below a minute only one unit is
    /// used.
    static func text(microseconds: Int64) -> String {
        let sign = microseconds < 0 ? "-" : ""
        let magnitude = microseconds.magnitude
        guard let first = units.firstIndex(where: { magnitude >= $0.microseconds }) else { return "0 s" }
        let unit = units[first]
        var text = "\(sign)\(magnitude / unit.microseconds) \(unit.name)"
        if unit.microseconds >= 60_000_000 {
            let next = units[first + 1]
            let rest = magnitude % unit.microseconds / next.microseconds
            if rest > 0 { text += " \(rest) \(next.name)" }
        }
        return text
    }
}
