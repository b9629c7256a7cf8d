import StorageKit

/// The effect of each key.
extension Browser {
    mutating func handle(_ key: Key) -> [BrowserEffect] {
        guard !isApplying else { return [] }
        switch key {
        case .control("c"): return abandon() + [.quit]
        case .control("z"): return [.suspend]
        default: break
        }
        notice = nil
        guard size.isEnough else { return key == .character("q") ? [.quit] : [] }
        if prompt != nil { return answerPrompt(key) }
        if let moved = move(key) { return moved }
        switch key {
        case .enter: return open()
        case .escape: return escape()
        case .character(let character): return handle(character)
        default: return []
        }
    }

    /// Handles keys that move the selection; nil for others.
    private mutating func move(_ key: Key) -> [BrowserEffect]? {
        let (page, half) = (max(height - 1, 1), max(height / 2, 1))
        let selection = top.window.selection
        switch key {
        case .down, .character("j"), .control("n"): top.window.select(selection + 1, height: height)
        case .up, .character("k"), .control("p"): top.window.select(selection - 1, height: height)
        case .pageDown, .character(" "), .control("f"): top.window.scroll(by: page, height: height)
        case .pageUp, .character("b"), .control("b"): top.window.scroll(by: -page, height: height)
        case .control("d"): top.window.scroll(by: half, height: height)
        case .control("u"): top.window.scroll(by: -half, height: height)
        case .tab: top.window.selectItem(forward: true, height: height)
        case .backTab: top.window.selectItem(forward: false, height: height)
        case .home, .character("g"): return toEnd(.first)
        case .end, .character("G"): return toEnd(.last)
        case .right, .character("l"): top.left = min(top.left + size.columns / 2, Self.widestLine)
        case .left, .character("h"): top.left = max(top.left - size.columns / 2, 0)
        default: return nil
        }
        top.isPaused = false
        return []
    }

    /// How far lines can be scrolled to the right.
    private static let widestLine = 10_000

    /// Moves to the first or the last line of the whole list, which may not be in memory.
    private mutating func toEnd(_ page: LinePage) -> [BrowserEffect] {
        let window = top.window
        let isThere = page == .first ? !window.hasBefore && newCommits == 0 : !window.hasAfter
        guard !isThere, top.location != .help else {
            top.window.select(page == .first ? 0 : window.lines.count, height: height)
            return []
        }
        return abandon() + read(page)
    }

    private mutating func handle(_ character: Character) -> [BrowserEffect] {
        switch character {
        case "q":
            if screens.count == 1 { return abandon() + [.quit] }
            return pop()
        case "Q": return abandon() + [.quit]
        case "?":
            if top.location == .help { return pop() }
            let effects = push(.help)
            top.window.append(HelpLines.items)
            top.window.finish(.first, hasMore: false)
            return effects
        case "/": prompt = Prompt(.search, "/")
        case "n": return search(forward: true)
        case "N": return search(forward: false)
        case ":": prompt = Prompt(.goTo, "go to: ")
        case "&":
            guard case .timeline(let filter) = screens[0].location else { return [] }
            prompt = Prompt(.filter, "log ", text: ShellWords.line(filter.words))
        case "c": notice = .command(top.location.command(store: store))
        case "f": return popToTimeline() + read(.first)
        case "r": return top.location == .help ? [] : reload()
        default: return act(character)
        }
        return []
    }

    /// Reads the screen again: a timeline from its beginning, because there may be new commits.
    private mutating func reload() -> [BrowserEffect] {
        if case .timeline = top.location { return abandon() + read(.first) }
        // Data held for the others may be out of date.
        return replace(by: top.location)
    }

    /// Handles keys that act on the selection.
    private mutating func act(_ character: Character) -> [BrowserEffect] {
        let subject = top.window.selected?.subject ?? LineSubject()
        switch character {
        case "m":
            guard let commit = subject.commit else { return say("No commit is selected.") }
            mark = mark == commit ? nil : commit
            return say(mark == nil ? "No commit is marked." : "t:\(commit) is marked: d shows what differs from it.")
        case "d": return showDifference(subject)
        case "t":
            guard let point = top.location.point ?? subject.commit.map({ .commit($0) }) else {
                return say("No commit is selected.")
            }
            guard let table = subject.row?.table ?? subject.table else { return push(.tables(point)) }
            return push(.rows(table: table, at: point))
        case "T":
            return push(.tables(top.location.point ?? subject.commit.map { .commit($0) } ?? .head))
        case "a":
            guard let actor = subject.actor else { return say("The selected commit has no actor.") }
            return setFilter(adding: ["--actor", actor])
        case "u": return plan(.undo)
        case "R": return plan(.redo)
        case "U":
            guard let commit = subject.commit else { return say("No commit is selected.") }
            return plan(.revert(commit))
        case "s", "o":
            guard case .plan(var request) = top.location, top.plan?.isRefused == true else { return [] }
            request.onConflict = character == "s" ? .skip : .overwrite
            return replace(by: .plan(request))
        default: return say("No command on \(character); ? lists the keys.")
        }
    }

    private mutating func say(_ text: String) -> [BrowserEffect] {
        notice = .text(text)
        return []
    }

    private mutating func open() -> [BrowserEffect] {
        if case .plan = top.location { return askForReason() }
        guard let location = top.window.selected?.opens else { return [] }
        return push(location)
    }

    private mutating func escape() -> [BrowserEffect] {
        if reading != nil {
            top.isPaused = true
            top.isStale = false
            notice = .text("Reading was cancelled; move to continue.")
            return abandon()
        }
        if top.search != nil {
            top.search = nil
            return []
        }
        return pop()
    }

    /// Shows the difference between the marked commit and the selected one; without a mark, between the selected one and the head.
    private mutating func showDifference(_ subject: LineSubject) -> [BrowserEffect] {
        guard let commit = subject.commit else { return say("No commit is selected.") }
        if let mark, mark != commit {
            let (from, to) = (min(mark, commit), max(mark, commit))
            return push(.difference(DifferenceRequest(from: .commit(from), to: .commit(to))))
        }
        return push(.difference(DifferenceRequest(from: .commit(commit), to: .head)))
    }

    private mutating func plan(_ kind: ReversalRequest.Kind) -> [BrowserEffect] {
        let location = Location.plan(ReversalRequest(kind: kind))
        if case .plan = top.location { return replace(by: location) }
        return push(location)
    }

    mutating func setFilter(adding words: [String]) -> [BrowserEffect] {
        guard case .timeline(let filter) = screens[0].location else { return [] }
        do {
            let filter = try filter.adding(words)
            return popToTimeline() + replace(by: .timeline(filter))
        } catch {
            notice = .error(CommandError(wrapping: error))
            return []
        }
    }
}
