internal import CSQLite
internal import StorageCore
package import StorageHistory
internal import StorageLog

/// The columns of an entity that its full-text index holds, and how it cuts them into words.
///
/// Isolation: not `Sendable`; it belongs to a ``RowLayout``.
package final class RowTexts {
    /// The index's declaration.
    package let index: FullTextIndex
    /// The columns' indices in the layout.
    let columnIndices: [Int]
    package let columns: ColumnMask
    /// Nil if texts can't be split into words without the index.
    private(set) lazy var tokenizer = TextTokenizer(index.tokenizer)

    init?(_ index: FullTextIndex, columnIndices: [Int?]) {
        self.index = index
        self.columnIndices = columnIndices.compactMap(\.self)
        guard self.columnIndices.count == index.columns.count else { return nil }
        var mask = ColumnMask.none
        for columnIndex in self.columnIndices { mask.insert(columnIndex) }
        columns = mask
    }

    /// Adds the words of a value, as the index would hold them.
    func cut(_ value: storage_value, into words: WordList) {
        words.beginText()
        if value.hasBytes {
            tokenizer?.cut(value.addressed, for: .row, into: words)
        } else if !value.isNull, case .text(var text) = SQLiteNumber.text(value.value()) {
            text.withUTF8 { tokenizer?.cut(UnsafeRawBufferPointer($0), for: .row, into: words) }
        }
    }
}
