internal import GRDB
internal import StorageCore
internal import StorageLog

extension StatementArguments {
    /// Creates arguments in the form in which values are bound to be stored. GRDB binds the same, except for dates, which it rounds to
    /// milliseconds. What columns would make of them isn't checked: SQL may only compare with them.
    ///
    /// - Throws: `invalidValue` for NaN, which SQLite would turn into NULL, and for dates and whole numbers that can't be stored.
    init(storing values: [(any StorageColumnValue)?]) throws {
        let values = try values.map { try $0?.argument() ?? .null }
        for case .real(let value) in values where value.isNaN {
            throw StorageError(
                .invalidValue,
                "NaN, or a date outside of the years 0 to 9999, can't be a value of SQL: SQLite would take NULL.",
                remedy: "Give nil, or another value that stands for it.")
        }
        self.init(values)
    }
}
