internal import StorageCore
internal import StorageLog

extension CatalogEntity {
    /// Whether the table's SQL gives a column a constraint that begins with a keyword, such as `CHECK`. Constraints of the whole
    /// table don't count.
    func hasConstraint(_ keyword: String, inDefinitionOf column: CatalogColumn) -> Bool {
        guard let tokens = try? SQLToken.tokens(of: definitions.table, skippingComments: true) else { return false }
        var depth = 0
        var isFirst = false
        var isOwn = false
        for token in tokens {
            switch token {
            case .symbol("("):
                depth += 1
                if depth == 1 { isFirst = true }
            case .symbol(")"): depth -= 1
            case .symbol(",") where depth == 1: isFirst = true
            case .word(let name) where isFirst, .name(let name) where isFirst, .text(let name) where isFirst:
                isFirst = false
                isOwn = name.folded == column.stored.folded
            default: if isOwn, depth == 1, token.isWord(keyword) { return true }
            }
        }
        return false
    }
}
