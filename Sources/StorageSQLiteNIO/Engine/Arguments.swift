#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore
    internal import StorageRecords

    /// The arguments for the placeholders of a statement.
    enum Arguments: Sendable {
        /// Swift values, which bind themselves: their code refuses what a column can't hold.
        case columns([any StorageColumnValue])
        case values([StorageValue])

        static let none = Arguments.values([])

        var count: Int {
            switch self {
            case .columns(let columns): columns.count
            case .values(let values): values.count
            }
        }

        /// - Throws: `invalidValue` for NaN and other values that SQLite can't represent.
        func bind(to writer: RowWriter) throws {
            switch self {
            case .columns(let columns):
                for (index, column) in columns.enumerated() { try column.write(to: writer, at: Int32(index + 1)) }
            case .values(let values):
                for (index, value) in values.enumerated() { try writer.bind(value, at: Int32(index + 1)) }
            }
        }
    }
#endif
