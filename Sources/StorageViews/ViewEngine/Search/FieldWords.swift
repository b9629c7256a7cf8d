internal import StorageCore
internal import StorageEntities

/// Words that a row must have, each in any of some columns.
struct FieldWords: Sendable, Hashable {
    let text: String
    let fields: [String]
    /// Whether capitals matter; otherwise the letters A to Z are the same in both cases.
    let isCaseSensitive: Bool
    /// Whether a column must hold the text and nothing else.
    let isExact: Bool

    var words: [String] { isExact ? [text] : text.split(whereSeparator: \.isWhitespace).map(String.init) }

    /// One condition for each word.
    ///
    /// - Throws: `invalid-name` for an unknown column.
    func conditions(on table: QueryTable) throws -> [RowPredicate] {
        try words.map { word in .any(try fields.map { try condition($0, containing: word, in: table) }) }
    }

    private func condition(_ field: String, containing word: String, in table: QueryTable) throws -> RowPredicate {
        let column = try table.column(named: field)
        if isExact {
            return .comparison(
                column: field, .equal, .value(.text(word)), collation: isCaseSensitive ? .binary : .noCase)
        }
        return isCaseSensitive ? .sql("instr(\(column), ?) > 0", [.text(word)]) : .contains(field, word)
    }
}
