import StorageKit

/// Commits to ignore, as `--ignore` names them: `t:7`, `actor=import`, `app=etl`, `reason~migration`.
struct IgnoredCommits: Equatable, Sendable {
    private enum Rule: Equatable {
        case commit(Int64)
        case actor(String)
        case app(String)
        case reason(String)
    }

    private let rule: Rule

    init(_ argument: String) throws(GrammarError) {
        guard let rule = Self.rule(argument) else {
            throw GrammarError(
                problem: "'\(argument)' doesn't name commits.",
                examples: "Write t:7, actor=NAME, app=NAME or reason~TEXT.")
        }
        self.rule = rule
    }

    private static func rule(_ argument: String) -> Rule? {
        if case .commit(let number)? = try? PointArgument(argument, now: 0) {
            return .commit(number)
        }
        guard let sign = argument.firstIndex(where: { $0 == "=" || $0 == "~" }) else { return nil }
        let value = String(argument[argument.index(after: sign)...])
        guard !value.isEmpty else { return nil }
        switch (argument[..<sign], argument[sign]) {
        case ("actor", "="): return .actor(value)
        case ("app", "="): return .app(value)
        case ("reason", "~"): return .reason(value)
        default: return nil
        }
    }

    /// The commit, if it is named by its number.
    var number: Int64? {
        if case .commit(let number) = rule { number } else { nil }
    }

    func contains(_ commit: CommitInfo) -> Bool {
        switch rule {
        case .commit(let number): commit.number == number
        case .actor(let name): commit.metadata.actor?.utf8.elementsEqual(name.utf8) ?? false
        case .app(let name): commit.metadata.app?.utf8.elementsEqual(name.utf8) ?? false
        case .reason(let text): commit.metadata.reason?.contains(text) ?? false
        }
    }
}
