import StorageKit

/// The words that Tab completes at the prompt of a replay.
struct ReplayWords {
    private static let commands = ["b", "c", "d", "g", "help", "n", "N", "p", "P", "quit", "s", "w", "."]

    private let store: HistoryReader
    private let sql: SQLWords?

    init(_ store: HistoryReader) {
        self.store = store
        // Without names, Tab completes no queries.
        sql = try? SQLWords(store)
    }

    func candidates(for line: String) -> WordCandidates {
        let command = line.prefix { $0 != " " }
        guard command.count < line.count else {
            return WordCandidates(typed: line, words: Self.commands.filter { $0.hasPrefix(line) })
        }
        if command == "s", let sql { return sql.candidates(for: line) }
        let typed = String(line[(line.lastIndex(of: " ").map { line.index(after: $0) } ?? line.startIndex)...])
        let kind: CompletedValue
        switch command {
        case "g": kind = .point
        case "b", "d", "w": kind = .target
        default: return WordCandidates(typed: typed, words: [])
        }
        // A store that can't be read completes nothing; the command reports the error.
        let found = (try? StoreCandidates(store: store, tables: []).values(kind, typed)) ?? []
        let words = found.filter { $0.isTypable && $0.begins(with: typed) }
        return WordCandidates(
            typed: typed, words: words.map(\.text), end: words.first?.isPartial == true ? "" : " ")
    }
}
