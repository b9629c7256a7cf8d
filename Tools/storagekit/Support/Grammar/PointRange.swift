/// A range of history `A..B`: the events after A, up to and including B.
///
/// Without A it begins with the first event, without B it ends at the head.
struct PointRange: Equatable, Sendable {
    /// The point after which the range begins; nil for the beginning of history.
    let after: PointArgument?
    /// The last point of the range; nil for the head.
    let through: PointArgument?

    static let examples = "Ranges look like @100..@200, t:5..head, -2d.., ..tag:NAME."

    init(after: PointArgument?, through: PointArgument?) {
        self.after = after
        self.through = through
    }

    /// - Parameter now: Microseconds since 1970, for relative points.
    init(_ text: String, now: Int64) throws(GrammarError) {
        var parts: (Substring, Substring)?
        var index = text.startIndex
        // No point contains two dots, so the first pair separates.
        while index < text.endIndex, parts == nil {
            if text[index...].hasPrefix("..") { parts = (text[..<index], text[index...].dropFirst(2)) }
            index = text.index(after: index)
        }
        guard let (from, to) = parts else {
            throw GrammarError(problem: "'\(text)' isn't a range.", examples: Self.examples)
        }
        after = from.isEmpty ? nil : try PointArgument(String(from), now: now)
        through = to.isEmpty ? nil : try PointArgument(String(to), now: now)
    }
}
