internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// The result of a verification.
///
/// ```swift
/// let report = try await storage.verify()
/// if !report.isSound { print(report.findings.map(\.message)) }
/// for warning in report.warnings { print(warning.message) }
/// ```
public struct VerifyReport: Sendable {
    /// A difference between the store and what was written.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// `write-ahead-log`, `file`, `schema`, `bookkeeping`, `log`, `event`, `commit-key`, `tombstone`, `projection`
        /// or `full-text`.
        public let kind: String
        /// The event, or the first event of the segment, if known.
        public let position: Int64?
        /// The entity, if known.
        public let table: String?
        /// A description of the problem.
        public let message: String
        /// Whether rows of the table refer to missing rows.
        var isInvalidReference = false

        public var description: String {
            let location = [position.map { "@\($0)" }, table].compactMap { $0 }.joined(separator: " ")
            return "\(kind)\(location.isEmpty ? "" : " \(location)"): \(message)"
        }
    }

    /// The positions of the log, from 1 to the head; nil in an empty store.
    public internal(set) var requested: ClosedRange<Int64>?
    /// Positions that couldn't be verified, because the log is damaged there.
    public internal(set) var notVerified: [ClosedRange<Int64>] = []
    /// The differences that were found, up to a limit.
    public internal(set) var findings: [Finding] = []
    /// Findings that aren't damage: commits that were lost with the power, which `normal` durability allows, rows that another
    /// program had changed or deleted before they were saved again, up to a limit, foreign keys that refer to a table or column
    /// that doesn't exist, and what can't be checked of indexes, constraints and pages because a function or a collation isn't
    /// registered in this process.
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

    /// The most findings that are listed.
    static let findingLimit = 100

    mutating func add(
        _ kind: String, position: Int64? = nil, table: String? = nil, _ message: String,
        isInvalidReference: Bool = false
    ) {
        guard findings.count < Self.findingLimit else {
            isTruncated = true
            return
        }
        findings.append(
            Finding(
                kind: kind, position: position, table: table, message: message, isInvalidReference: isInvalidReference))
    }

    mutating func warn(_ kind: String, table: String? = nil, _ message: String) {
        warnings.append(Finding(kind: kind, position: nil, table: table, message: message))
    }

    /// Warns of an insert of a row that the log still had.
    ///
    /// - Parameter isSearched: Whether its table has a full-text index: it may still find the words of the deleted row.
    mutating func warn(of row: Fold.Replacement, in catalog: Catalog, isSearched: Bool) {
        let table = catalog.entity(id: row.entity)?.name
        let advice = Self.advice(on: "deleted", in: table, isSearched: isSearched)
        warn(
            at: row.position, table,
            "inserts a row that the log has had since @\(row.earlier): another program had deleted it without an event. The insert counts as a replacement of the row. \(advice); to refuse such programs: storagekit guard"
        )
    }

    /// Warns of a change whose old value the log doesn't have.
    ///
    /// - Parameter isSearched: Whether its table has a full-text index: it may still find the words that the log has.
    mutating func warn(of value: Fold.ForeignValue, in catalog: Catalog, isSearched: Bool) {
        let table = catalog.entity(id: value.entity)?.name
        let advice = Self.advice(on: "earlier", in: table, isSearched: isSearched)
        warn(
            at: value.position, table,
            "records an old value of \"\(catalog.column(id: value.column)?.name ?? "")\" that differs from the log: another program had changed it without an event. Reads of the past return this value or the logged one. \(advice); to refuse such programs: storagekit guard"
        )
    }

    private static func advice(on words: String, in table: String?, isSearched: Bool) -> String {
        guard isSearched else { return "Nothing needs to be done" }
        return
            "The full-text index may have kept the \(words) words. To remove them: storagekit rebuild \([table].compactMap { $0 }.quotedAsOperands)"
    }

    private mutating func warn(at position: Int64, _ table: String?, _ message: String) {
        let rows = warnings.count { $0.kind == "event" }
        guard rows <= Self.findingLimit else { return }
        guard rows < Self.findingLimit else {
            let message = "and more: other programs had changed more such rows than are listed"
            return warnings.append(Finding(kind: "event", position: nil, table: nil, message: message))
        }
        warnings.append(Finding(kind: "event", position: position, table: table, message: message))
    }
}

extension VerifyReport: CustomStringConvertible {
    /// What was verified, then a line for each finding and warning:
    ///
    /// ```
    /// not sound: 140 events, 12 commits, 30 rows, 1 finding
    ///   log @101: the segment's digest differs
    /// ```
    public var description: String {
        var parts = [("event", events), ("commit", commits), ("row", rows)].map { ChangeText.number($1, $0) }
        if !isSound { parts.append(ChangeText.number(findings.count, "finding") + (isTruncated ? " and more" : "")) }
        if !warnings.isEmpty { parts.append(ChangeText.number(warnings.count, "warning")) }
        if !notVerified.isEmpty {
            parts.append("not verified: " + notVerified.map(\.positionText).joined(separator: ", "))
        }
        let lines = findings.map { "  \($0)" } + warnings.map { "  warning: \($0)" }
        return (["\(isSound ? "sound" : "not sound"): \(parts.joined(separator: ", "))"] + lines)
            .joined(separator: "\n")
    }
}
