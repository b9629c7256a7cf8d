import StorageCore

/// A point in history as it is written on the command line.
///
/// | Written | Means |
/// |---|---|
/// | `@1234`, `@1234~` | a position; the place just before it |
/// | `t:77` | commit 77 |
/// | `2024-05-01T10:00:00Z`, `2024-05-01 10:00`, `2024-05-01` | a time, in the zone of `TimeDisplay` unless it names an offset; a day is its start |
/// | `today`, `yesterday 14:00` | a time of a day in that zone |
/// | `-2h`, `-1d12h`, `now-2h`, `now` | that long ago, in `w d h m s`; the present |
/// | `head`, `head~5`, `head^` | the newest commit; five commits before it; one |
/// | `tag:NAME`, `tag:NAME~2` | what was tagged; two commits before it |
enum PointArgument: Equatable, Sendable {
    case position(Int64)
    /// The state just before a position.
    case before(position: Int64)
    case commit(Int64)
    /// Microseconds since 1970 in UTC.
    case time(Int64)
    case head
    case beforeHead(commits: Int64)
    case tag(String)
    case beforeTag(String, commits: Int64)

    static let examples =
        "Points look like @1234, @1234~, t:77, 2024-05-01T10:00:00Z, 2024-05-01, \"today 14:00\", yesterday, -2h (w d h m s), head, head~5, tag:NAME, tag:NAME~2."

    /// - Parameter now: Microseconds since 1970, for relative points.
    /// - Parameter zone: The zone of times without an offset.
    init(_ text: String, now: Int64, zone: TimeDisplay = .current) throws(GrammarError) {
        guard let point = try Self.parse(text, now: now, zone) else {
            let likely = PointSuggestion.likely(text).map { "Did you mean \($0)? " } ?? ""
            throw GrammarError(problem: "'\(text)' isn't a point in history.", examples: likely + Self.examples)
        }
        self = point
    }

    private static func parse(_ text: String, now: Int64, _ zone: TimeDisplay) throws(GrammarError) -> PointArgument? {
        if text.hasPrefix("@") {
            let isBefore = text.hasSuffix("~")
            guard let position = number(text.dropFirst().dropLast(isBefore ? 1 : 0)) else { return nil }
            return isBefore ? .before(position: position) : .position(position)
        }
        if text.hasPrefix("t:") { return number(text.dropFirst(2)).map { .commit($0) } }
        // Users of git write it in capitals.
        if text == "head" || text == "HEAD" { return .head }
        if text.hasPrefix("head~") || text.hasPrefix("HEAD~") {
            return number(text.dropFirst(5)).map { .beforeHead(commits: $0) }
        }
        if text.hasPrefix("head^") || text.hasPrefix("HEAD^") {
            return text.dropFirst(4).allSatisfy { $0 == "^" } ? .beforeHead(commits: Int64(text.count - 4)) : nil
        }
        if text.hasPrefix("tag:") { return tag(text.dropFirst(4)) }
        if text == "now" { return .time(now) }
        if text.hasPrefix("-") { return ago(text.dropFirst(), now: now) }
        if text.hasPrefix("now-") { return ago(text.dropFirst(4), now: now) }
        return try time(text, now: now, zone)
    }

    private static func tag(_ text: Substring) -> PointArgument? {
        guard let tilde = text.lastIndex(of: "~") else {
            return TagName.problem(with: String(text)) == nil ? .tag(String(text)) : nil
        }
        let name = String(text[..<tilde])
        guard TagName.problem(with: name) == nil, let commits = number(text[text.index(after: tilde)...]) else {
            return nil
        }
        return .beforeTag(name, commits: commits)
    }

    /// Parses digits only: signs and spaces are typing errors here.
    static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } ? Int64(text) : nil
    }
}

extension PointArgument: CustomStringConvertible {
    /// The point as it can be typed again; a relative time has become an absolute one.
    var description: String {
        switch self {
        case .position(let position): "@\(position)"
        case .before(let position): "@\(position)~"
        case .commit(let commit): "t:\(commit)"
        case .time(let microseconds): Timestamp.shown(microseconds)
        case .head: "head"
        case .beforeHead(let commits): "head~\(commits)"
        case .tag(let name): "tag:\(name)"
        case .beforeTag(let name, let commits): "tag:\(name)~\(commits)"
        }
    }
}
