import StorageKit

/// Handles typed lines.
extension Browser {
    mutating func answerPrompt(_ key: Key) -> [BrowserEffect] {
        guard var prompt else { return [] }
        switch key {
        case .escape: self.prompt = nil
        case .enter:
            self.prompt = nil
            return accept(prompt)
        default:
            // A question is answered with one key.
            if case .confirmation(let reason) = prompt.purpose {
                self.prompt = nil
                return confirm(key, reason: reason)
            }
            let isEmpty = prompt.text.isEmpty
            prompt.handle(key)
            // As in less, deleting in an empty line closes the prompt.
            self.prompt = key == .backspace && isEmpty ? nil : prompt
        }
        return []
    }

    private mutating func accept(_ prompt: Prompt) -> [BrowserEffect] {
        do {
            switch prompt.purpose {
            case .search:
                if !prompt.line.isEmpty { top.search = LineSearch(text: prompt.line) }
                return search(forward: true)
            case .goTo: return try go(to: prompt.line)
            case .filter:
                let filter = try LogFilter(prompt.line)
                return popToTimeline() + replace(by: .timeline(filter))
            case .reason: return askForConfirmation(reason: prompt.line)
            case .confirmation: notice = .text("Nothing was changed.")
            }
        } catch {
            notice = .error(CommandError(wrapping: error))
        }
        return []
    }

    // MARK: Search

    /// Selects the next line that matches, first among those in memory, then among the others.
    mutating func search(forward: Bool) -> [BrowserEffect] {
        guard let search = top.search else {
            notice = .text("Search with / first.")
            return []
        }
        if let index = top.window.next(forward: forward, where: { search.matches($0) }) {
            top.window.select(index, height: height)
            return []
        }
        let window = top.window
        let edge = forward ? window.lines.last?.cursor : window.lines.first?.cursor
        guard forward ? window.hasAfter : window.hasBefore, top.location != .help else {
            notice = .text("No match for \(search.text).")
            return []
        }
        return abandon() + read(.search(search, from: edge, forward: forward))
    }

    // MARK: Points

    /// `t:7`, `-2h` and other points, `posts`, `posts/42`, `t:5..t:9 posts`.
    private mutating func go(to line: String) throws -> [BrowserEffect] {
        let words = try ShellWords.split(line)
        guard let first = words.first else { return [] }
        if first.contains(".."), let range = try? PointRange(first, now: now) {
            let targets = try words.dropFirst().map(TargetArgument.init)
            let (from, to) = (range.after ?? .position(0), range.through ?? .head)
            return push(.difference(DifferenceRequest(from: from, to: to, targets: targets)))
        }
        // Times contain a space.
        guard let point = try? PointArgument(words.joined(separator: " "), now: now) else {
            let target = try TargetArgument(first)
            if target.id != nil { return push(.history(target)) }
            // A word that can't be a name was meant as a point.
            if first.hasPrefix("@") || first.hasPrefix("-") { _ = try PointArgument(first, now: now) }
            return push(.rows(table: target.table, at: top.location.point ?? .head))
        }
        switch top.location {
        case .tables: return replace(by: .tables(point))
        case .rows(let table, _): return replace(by: .rows(table: table, at: point))
        default: return popToTimeline() + read(.point(point))
        }
    }

    // MARK: Plans

    mutating func askForReason() -> [BrowserEffect] {
        // Also where its last lines are still on their way: a key isn't lost for that.
        guard let plan = top.plan else { return [] }
        if plan.isRefused {
            notice = .error(ReversalRun.refusal(plan, next: "s skips them, o overwrites what was changed since."))
        } else if plan.report.outcome.count == 0 {
            notice = .text("Nothing to do.")
        } else {
            prompt = Prompt(.reason, "reason (may be empty): ")
        }
        return []
    }

    private mutating func askForConfirmation(reason: String) -> [BrowserEffect] {
        guard let plan = top.plan else { return [] }
        prompt = Prompt(.confirmation(reason: reason), "\(plan.question) [y/N] ")
        return []
    }

    private mutating func confirm(_ key: Key, reason: String) -> [BrowserEffect] {
        guard key == .character("y") || key == .character("Y"), let plan = top.plan else {
            notice = .text("Nothing was changed.")
            return []
        }
        return abandon() + read(.apply(plan, reason: reason))
    }
}
