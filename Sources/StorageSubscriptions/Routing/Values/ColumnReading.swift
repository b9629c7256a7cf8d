internal import StorageCore

/// One way to compare a column's values: which column, what SQLite converts before it compares, and how texts are
/// ordered. Conditions that compare a column in the same way share the converted value.
struct ColumnReading: Hashable {
    enum Conversion: UInt8, Hashable {
        case none
        /// Texts that are numbers become numbers.
        case toNumber
        /// Numbers become texts.
        case toText
    }

    let columnIndex: Int
    let conversion: Conversion
    let collation: RowPredicate.Collation
}
