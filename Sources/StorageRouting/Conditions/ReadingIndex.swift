/// A way in which conditions compare a column, by its number among those of an entity: see ``ColumnReading``.
package struct ReadingIndex: Hashable {
    let index: Int

    /// The reading of all words of the columns that the full-text index holds. It is no column's.
    static let words = ReadingIndex(index: 1 << 24)
}
