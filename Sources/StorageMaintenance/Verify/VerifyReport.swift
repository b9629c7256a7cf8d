/// What a verification found.
public struct VerifyReport: Sendable {
    /// Something that isn't as it was written.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// `write-ahead-log`, `file`, `schema`, `bookkeeping`, `log`, `event`, `commit-key`, `tombstone`, `projection`
        /// or `full-text`.
        public let kind: String
        /// The event, or the first event of the segment, if known.
        public let position: Int64?
        /// The entity, where it can be named.
        public let table: String?
        /// What is wrong, in words.
        public let message: String

        public var description: String {
            let location = [position.map { "@\($0)" }, table].compactMap { $0 }.joined(separator: " ")
            return "\(kind)\(location.isEmpty ? "" : " \(location)"): \(message)"
        }
    }

    /// The positions of the log, from 1 to the head; nil in an empty store.
    public internal(set) var requested: ClosedRange<Int64>?
    /// Positions that can't be vouched for, because the log is damaged there.
    public internal(set) var notVerified: [ClosedRange<Int64>] = []
    /// What isn't as it was written, up to a limit.
    public internal(set) var findings: [Finding] = []
    /// What is as it may be and yet worth knowing: commits that `normal` durability has lost with the power.
    public internal(set) var warnings: [Finding] = []
    /// Whether there were more findings than are listed.
    public internal(set) var isTruncated = false
    /// The number of verified events.
    public internal(set) var events = 0
    /// The number of verified commits.
    public internal(set) var commits = 0
    /// The number of verified rows.
    public internal(set) var rows = 0

    /// Whether nothing was found.
    public var isSound: Bool { findings.isEmpty }

    /// More findings than anybody reads are counted as such.
    static let findingLimit = 100

    mutating func add(_ kind: String, position: Int64? = nil, table: String? = nil, _ message: String) {
        guard findings.count < Self.findingLimit else {
            isTruncated = true
            return
        }
        findings.append(Finding(kind: kind, position: position, table: table, message: message))
    }
}
