import ArgumentParser
import StorageKit

/// The filter of a timeline's commits: the arguments of `storagekit log`, and `--text` for a search as with `grep`.
struct LogFilter: Equatable, Sendable {
    /// The arguments as they were typed.
    let words: [String]
    /// A text that must have appeared in a value or vanished from it.
    let text: String?
    /// The other arguments.
    private let rest: [String]

    static let all = LogFilter()
    static let examples =
        "Filters look like posts, posts/42, t:5..t:9, --actor anna, --table posts, --since -2h, --op d, --text Hello."

    private init() { (words, text, rest) = ([], nil, []) }

    /// - Throws: `GrammarError` if `log` doesn't accept them.
    init(_ line: String) throws { try self.init(words: ShellWords.split(line)) }

    init(words: [String]) throws {
        var rest: [String] = []
        var text: String?
        var remaining = words[...]
        while let word = remaining.popFirst() {
            if word.hasPrefix("--text=") {
                text = String(word.dropFirst(7))
            } else if word == "--text" {
                text = remaining.popFirst() ?? ""
            } else {
                // As on a command line, -2h is a point and not an option.
                rest.append(Self.isRelative(word) && rest.last?.hasPrefix("--") != true ? "now" + word : word)
            }
        }
        if text?.isEmpty == true { throw GrammarError(problem: "--text needs a text.", examples: Self.examples) }
        self.words = words
        self.text = text
        self.rest = rest
        let command = try parsed()
        if command.limit != nil || command.reverse || command.patch || command.oneline || command.store.store != nil {
            throw GrammarError(problem: "Only filters can be given here.", examples: Self.examples)
        }
        if text != nil, command.condition != nil || !command.changed.isEmpty {
            throw GrammarError(
                problem: "--text can't be combined with --where or --changed.", examples: Self.examples)
        }
    }

    var isEmpty: Bool { words.isEmpty }

    /// Returns the filter with more arguments.
    func adding(_ more: [String]) throws -> LogFilter { try LogFilter(words: words + more) }

    /// The arguments of the command that finds the same commits.
    var command: [String] { text.map { ["grep", $0] + rest } ?? ["log"] + rest }

    /// The filter for the log's readers.
    func resolved(in store: HistoryReader) throws -> ChangeFilter {
        let command = try parsed()
        let (range, targets) = try HistoryWords.split(command.words, naming: store.catalog)
        var filter = try store.filter(command.filter, range: range, targets: targets, includesSchema: command.schema)
        try RowConditions(command.condition, command.changed, of: targets, store).narrow(&filter)
        if let text {
            let pattern = try ValuePattern(text, isExpression: false, ignoresCase: false)
            let search = ValueSearch(pattern: pattern, catalog: store.catalog) { $0 != .kept }
            filter.passes = { batch, index, _ in !search.matches(batch, index).isEmpty }
            filter.isNarrow = true
        }
        return filter
    }

    private func parsed() throws -> LogCommand {
        do {
            return try LogCommand.parse(rest)
        } catch {
            let message = LogCommand.message(for: error)
            let lines = message.split(separator: "\n", maxSplits: 1).map(String.init)
            throw GrammarError(problem: lines.first ?? message, examples: lines.count > 1 ? lines[1] : Self.examples)
        }
    }

    private static func isRelative(_ word: String) -> Bool {
        word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
            && ((try? PointArgument(word, now: 0)) != nil || (try? PointRange(word, now: 0)) != nil)
    }
}
