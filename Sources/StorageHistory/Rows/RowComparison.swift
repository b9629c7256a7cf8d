internal import CSQLite
package import StorageCore
package import StorageLog

/// Compares two tables row by row in the order of their keys, byte for byte, with memory for one row.
package struct RowComparison {
    package enum Difference: Sendable, Hashable {
        /// The row is in the first table only.
        case missing(key: String)
        /// The row is in the second table only.
        case extra(key: String)
        /// A column holds one value in the first table and another one in the second.
        case different(key: String, column: String, expected: StorageValue, found: StorageValue)
    }

    /// Selects rows in the order of comparison, regardless of the key's collation.
    ///
    /// - Parameters:
    ///   - table: The table's name in SQL.
    ///   - columns: The columns' names in SQL, keys first.
    package static func select(_ table: String, _ columns: [String], keys: Int) -> String {
        let order = columns.prefix(keys).map { "\($0) COLLATE BINARY" }.joined(separator: ", ")
        return "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY \(order)"
    }

    /// Selects the rows of an entity's table, or of one like it, for a comparison.
    package static func selectEntity(_ table: String, _ columns: [String], keys: Int) -> String {
        select(table, columns + ["_position"], keys: keys)
    }

    package let keyCount: Int
    /// Names of the columns that both statements select, keys first.
    package let names: [String]

    package init(keyCount: Int, names: [String]) {
        self.keyCount = keyCount
        self.names = names
    }

    /// Steps through both statements, which select the same columns in the order of the key, until `report` returns false. For a
    /// row that differs, only the first such column is reported.
    ///
    /// - Returns: The number of rows in both.
    package func run(_ expected: PreparedStatement, _ actual: PreparedStatement, report: (Difference) throws -> Bool)
        throws -> Int
    {
        var rows = 0
        try merge(expected, with: actual) { order in
            switch order {
            case 0:
                rows += 1
                guard let column = (keyCount..<names.count).first(where: { !same(expected, actual, in: Int32($0)) })
                else {
                    return true
                }
                let (wanted, found) = (expected.row.value(at: Int32(column)), actual.row.value(at: Int32(column)))
                return try report(
                    .different(key: key(expected), column: names[column], expected: wanted, found: found))
            case ..<0: return try report(.missing(key: key(expected)))
            default: return try report(.extra(key: key(actual)))
            }
        }
        return rows
    }

    /// Steps through both statements side by side, until `body` returns false.
    ///
    /// - Parameter body: Called with 0 if both are at the same key, with a negative number if only the first has this row, with a
    ///   positive one if only the second has it.
    package func merge(_ first: PreparedStatement, with second: PreparedStatement, _ body: (Int) throws -> Bool) throws
    {
        defer {
            first.reset()
            second.reset()
        }
        var left = try first.step()
        var right = try second.step()
        while left || right {
            let order = !left ? 1 : !right ? -1 : compareKeys(first, second)
            if try !body(order) { return }
            if order <= 0 { left = try first.step() }
            if order >= 0 { right = try second.step() }
        }
    }

    private func key(_ row: PreparedStatement) -> String {
        (0..<keyCount).map { index in
            if case .text(let text) = row.row.value(at: Int32(index)) { return text }
            return "\(row.row.value(at: Int32(index)))"
        }.joined(separator: ",")
    }

    package func same(_ a: PreparedStatement, _ b: PreparedStatement, in column: Int32) -> Bool {
        storage_value(borrowing: a.row, column: column).isSame(as: storage_value(borrowing: b.row, column: column))
    }

    /// Compares by SQLite's order of values, in which both statements return rows.
    private func compareKeys(_ a: PreparedStatement, _ b: PreparedStatement) -> Int {
        for column in 0..<Int32(keyCount) {
            let order = storage_value(borrowing: a.row, column: column)
                .order(to: storage_value(borrowing: b.row, column: column))
            if order != 0 { return order }
        }
        return 0
    }
}
