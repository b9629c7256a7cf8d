import StorageCore

/// The content of a screen.
enum Location: Equatable, Sendable {
    /// Commits, newest first.
    case timeline(LogFilter)
    /// One commit with its changes.
    case commit(Int64)
    /// The versions of a row or the values of a cell, newest first.
    case history(TargetArgument)
    case difference(DifferenceRequest)
    /// The tables at a point.
    case tables(PointArgument)
    /// The rows of a table at a point.
    case rows(table: String, at: PointArgument)
    /// What an undo, a redo or a revert would change.
    case plan(ReversalRequest)
    case help

    /// The arguments of `storagekit` that print the same.
    var words: [String] {
        switch self {
        case .timeline(let filter): filter.command
        case .commit(let number): ["show", "t:\(number)"]
        case .history(let target): ["history"] + ["\(target)"].asOperands
        case .difference(let request):
            ["diff", "\(request.from)", "\(request.to)"] + request.targets.map { "\($0)" }.asOperands
        case .tables(let point): ["at", "\(point)"]
        case .rows(let table, let point): ["at", "\(point)"] + [table].asOperands
        case .plan(let request): request.words + ["--dry-run"]
        case .help: ["ui", "--help"]
        }
    }

    /// The command that prints the same, for a shell.
    ///
    /// - Parameter store: The store as it was named; nil if the environment names it.
    func command(store: String?) -> String {
        var words = words
        if let store, self != .help {
            words.insert(contentsOf: ["-s", store], at: words.firstIndex(of: "--") ?? words.endIndex)
        }
        return ShellWords.line(["storagekit"] + words)
    }

    /// The name of the screen.
    var title: String {
        switch self {
        case .timeline(let filter): filter.isEmpty ? "log" : "log \(ShellWords.line(filter.words))"
        case .commit(let number): "commit t:\(number)"
        case .history(let target): "history \(target)"
        case .difference(let request):
            "diff \(request.from) \(request.to)" + request.targets.map { " \($0)" }.joined()
        case .tables(let point): "tables at \(point)"
        case .rows(let table, let point): "\(TargetArgument(table: table)) at \(point)"
        case .plan(let request): request.words.joined(separator: " ")
        case .help: "keys"
        }
    }

    /// The point whose state the screen shows; nil if it shows none.
    var point: PointArgument? {
        switch self {
        case .tables(let point), .rows(_, let point): point
        default: nil
        }
    }
}
