import StorageCore
import StorageKit

/// A user-defined line for each commit: `{commit} {time} {actor}`.
///
/// `{{` and `}}` stand for braces, `\n` and `\t` for a line break and a tab.
struct CommitTemplate: Equatable, Sendable {
    /// The fields of a commit.
    enum Field: String, CaseIterable, Sendable {
        case commit, positions, from, to, time, age, actor, app, reason, correlation, key, tags, notes, events, changes
        case rows
    }

    enum Part: Equatable, Sendable {
        case text(String)
        case field(Field)
    }

    let parts: [Part]

    static let fields = Field.allCases.map(\.rawValue).joined(separator: ", ")

    /// - Throws: A `GrammarError` that names the fields.
    init(_ text: String) throws(GrammarError) {
        var parts: [Part] = []
        var literal = ""
        var rest = text[...]
        while let next = rest.popFirst() {
            switch (next, rest.first) {
            case ("{", "{"), ("}", "}"), ("\\", "\\"): literal.append(rest.removeFirst())
            case ("\\", "n"), ("\\", "t"): literal.append(rest.removeFirst() == "n" ? "\n" : "\t")
            case ("{", _):
                let name = rest.prefix { $0 != "}" }
                guard let field = Field(rawValue: String(name)), name.endIndex < rest.endIndex else {
                    throw Self.unknown(String(name), in: text, isOpen: name.endIndex == rest.endIndex)
                }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = ""
                parts.append(.field(field))
                rest = rest[name.endIndex...].dropFirst()
            default: literal.append(next)
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        self.parts = parts
    }

    private static func unknown(_ name: String, in text: String, isOpen: Bool) -> GrammarError {
        let similar = Suggestions.nearest(to: name, among: Field.allCases.map(\.rawValue)).map { "{\($0)}" }
        let likely = isOpen || similar.isEmpty ? "" : "Did you mean \(similar.joined(separator: ", "))? "
        return GrammarError(
            problem: isOpen ? "A brace in '\(text)' isn't closed." : "A commit has no field '\(name)'.",
            examples: "\(likely)The fields are \(fields); a brace is {{ or }}.")
    }

    /// Whether the template contains the keys of changed rows.
    var needsRows: Bool { parts.contains(.field(.rows)) }

    /// Returns the text of a commit. Control characters in values are escaped, those of the template aren't.
    func text(of commit: AnnotatedCommit, rows: ChangedRows, now: Int64) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): TerminalText.visible(Self.value(field, of: commit, rows, now: now))
            }
        }.joined()
    }

    private static func value(
        _ field: Field, of commit: AnnotatedCommit, _ rows: ChangedRows, now: Int64
    ) -> String {
        let metadata = commit.info.metadata
        switch field {
        case .commit: return "t:\(commit.info.number)"
        case .positions: return commit.positions.positionText
        case .from: return "@\(commit.positions.lowerBound)"
        case .to: return "@\(commit.positions.upperBound)"
        case .time: return Timestamp.shown(commit.info.time)
        case .age: return Age.text(microseconds: max(now - commit.info.time, 0))
        case .actor: return metadata.actor ?? ""
        case .app: return metadata.app ?? ""
        case .reason: return metadata.reason ?? ""
        case .correlation: return metadata.correlation ?? ""
        case .key: return metadata.idempotencyKey ?? ""
        case .tags: return commit.tags.map(\.name).joined(separator: ", ")
        case .notes: return commit.notes.map(\.text).joined(separator: "; ")
        case .events: return "\(commit.changes.reduce(0) { $0 + $1.counts.total })"
        case .changes: return commit.changes.map { "\($0.table) \($0.counts.text)" }.joined(separator: ", ")
        case .rows:
            return commit.changes.map { rows.targets(in: $0.table, of: $0.counts.total) }.joined(separator: ", ")
        }
    }
}
