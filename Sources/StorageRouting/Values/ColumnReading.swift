package import StorageCore

/// One way to compare a column's values: the column, the conversion that SQLite applies first, and the collation of
/// texts. Conditions that compare a column in the same way share the converted value.
package struct ColumnReading: Hashable {
    package enum Conversion: UInt8, Hashable {
        case none
        /// Texts that are numbers become numbers.
        case toNumber
        /// Numbers become texts.
        case toText
    }

    package let columnIndex: Int
    package let conversion: Conversion
    package let collation: RowPredicate.Collation

    package init(columnIndex: Int, conversion: Conversion, collation: RowPredicate.Collation) {
        self.columnIndex = columnIndex
        self.conversion = conversion
        self.collation = collation
    }
}
