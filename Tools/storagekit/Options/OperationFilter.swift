import ArgumentParser

/// Operations as `--op` names them: `i,u,d` or whole words.
struct OperationFilter: Equatable, Sendable, ExpressibleByArgument {
    let kinds: Set<HistoryOperation.Kind>

    init(_ kinds: Set<HistoryOperation.Kind>) { self.kinds = kinds }

    init?(argument: String) {
        var kinds: Set<HistoryOperation.Kind> = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            switch word.lowercased() {
            case "i", "insert": kinds.insert(.insert)
            case "u", "update": kinds.insert(.update)
            case "d", "delete": kinds.insert(.delete)
            default: return nil
            }
        }
        self.kinds = kinds
    }

    static var allValueStrings: [String] { ["i", "u", "d", "insert", "update", "delete"] }
}
