import Foundation

/// Finds the candidates at the cursor.
struct Completer {
    let request: CompletionRequest
    /// The typed part of the word at the cursor.
    let current: String
    /// Whether a quotation mark is open there.
    var isQuoted = false
    let environment: [String: String]

    /// Returns the candidates, up to a limit for each kind.
    func candidates() async -> [Candidate] {
        let typed = String(current.dropFirst(request.prefix.count))
        var found = request.commands.map { Candidate(text: $0.name, about: $0.abstract) }
        found += request.options.flatMap(Self.names)
        found += request.choices.map { Candidate(text: $0) }
        if let value = request.value { found += await values(value, typed) }
        var seen: Set<String> = []
        return found.filter { $0.isTypable && ($0.isChosen || $0.begins(with: typed)) && seen.insert($0.text).inserted }
            .map {
                Candidate(
                    text: request.prefix + $0.text, about: $0.about, isPartial: $0.isPartial, isChosen: $0.isChosen)
            }
    }

    /// Returns both names of an option if only a hyphen is typed.
    private static func names(_ option: CompletionRequest.Argument) -> [Candidate] {
        (option.names ?? []).map { Candidate(text: $0.text, about: option.abstract ?? "") }
            .sorted { $0.text.count > $1.text.count }
    }

    private func values(_ value: CompletedValue, _ typed: String) async -> [Candidate] {
        switch value {
        case .text: return []
        case .file: return FileCandidates.all(typed, environment) { _ in true }
        case .store: return FileCandidates.all(typed, environment, where: FileCandidates.isDatabase)
        default: break
        }
        guard let path = request.store ?? environment[StoreOption.environmentKey], !path.isEmpty else { return [] }
        let (tables, isQuoted) = (request.tables, isQuoted)
        // A store that can't be read, or an unknown name, completes nothing: the command itself reports the error.
        let found = try? await StoreOption.readWithoutWaiting(path) { store in
            try StoreCandidates(store: store, tables: tables, isQuoted: isQuoted).values(value, typed)
        }
        return found ?? []
    }
}
