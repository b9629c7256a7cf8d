internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// A search in the texts of columns, without an index: every word must be in one of them.
struct FieldSearch<Entity: RegisteredEntity> {
    let sought: FieldWords
    let condition: RowPredicate?
    let relations: [RelatedCondition]
    let orderings: [RowOrdering]
    let limit: Int
    /// The marks before and after each match in a snippet; nil for no snippets.
    let marks: (start: String, end: String)?

    /// - Throws: `invalid-name` for an unknown column.
    func spec() throws -> ListSpec<SearchResult<Entity>> {
        let shape = EntityTableCache.of(Entity.Record.self).queryTable
        let parts = [condition].compactMap { $0 } + (try sought.conditions(on: shape))
        let indices = sought.fields.compactMap { shape.columnIndex(of: $0) }
        let mark = mark
        let form = RowForm<SearchResult<Entity>>(table: shape, isShared: mark == nil) { row in
            var snippet: String?
            for index in indices where mark != nil && snippet == nil && !row.isNull(at: Int32(index)) {
                guard case .text(let text) = row.value(at: Int32(index)) else { continue }
                snippet = mark?(text)
            }
            return SearchResult(entity: try Entity.Record(reading: row).asEntity(), rank: 0, snippet: snippet)
        }
        return ListSpec(
            form, RowRequest(predicate: .all(parts), relations: relations, orderings: orderings, limit: limit),
            counts: true)
    }

    /// Marks every occurrence of a word; nil for a text that has none.
    private var mark: (@Sendable (String) -> String?)? {
        guard let marks else { return nil }
        let isCaseSensitive = sought.isCaseSensitive
        let words = sought.words.map { $0.utf8.map { isCaseSensitive ? $0 : Self.folded($0) } }.filter { !$0.isEmpty }
        return { text in
            let original = Array(text.utf8)
            let bytes = isCaseSensitive ? original : original.map(Self.folded)
            var marked = [Bool](repeating: false, count: bytes.count)
            for word in words where word.count <= bytes.count {
                for start in 0...(bytes.count - word.count) where bytes[start..<start + word.count].elementsEqual(word)
                {
                    for index in start..<start + word.count { marked[index] = true }
                }
            }
            guard marked.contains(true) else { return nil }
            var result: [UInt8] = []
            for index in bytes.indices {
                if marked[index], index == 0 || !marked[index - 1] { result += Array(marks.start.utf8) }
                result.append(original[index])
                if marked[index], index == bytes.count - 1 || !marked[index + 1] { result += Array(marks.end.utf8) }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// Only the letters A to Z are the same in both cases, as in the condition.
    private static func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte + 32 : byte }
}
