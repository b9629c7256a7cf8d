import CSQLite
import StorageKit

/// The rows of a user's query, one at a time.
///
/// Values of columns that come from an entity's table keep the meaning that the catalog gives them.
final class QueryResult {
    let columns: [String]
    /// The index of each column in the statement's rows.
    let indices: [Int32]
    private let statement: PreparedStatement
    /// The catalog's type and coding of each column.
    let kinds: [(type: String, coding: String)]

    /// - Parameters:
    ///   - sql: The query as it was typed: `_position`, which every entity's table has, is shown only if the query names it, and not because
    ///     of a `*`.
    ///   - others: Names that are written beside the columns.
    init(_ statement: PreparedStatement, catalog: Catalog, sql: String, besides others: [String] = []) {
        self.statement = statement
        let count = sqlite3_column_count(statement.pointer)
        let namesPosition = sql.lowercased().contains("_position")
        var indices: [Int32] = []
        var kinds: [(type: String, coding: String)] = []
        for index in 0..<count {
            var kind = ("", "")
            if let table = sqlite3_column_table_name(statement.pointer, index),
                let name = sqlite3_column_origin_name(statement.pointer, index),
                let entity = catalog.entity(stored: String(cString: table))
            {
                let stored = String(cString: name).folded
                if let column = entity.live.first(where: { $0.stored.folded == stored }) {
                    kind = (column.type, column.coding)
                } else if !namesPosition, stored == "_position".folded {
                    continue
                }
            }
            indices.append(index)
            kinds.append(kind)
        }
        self.indices = indices
        self.kinds = kinds
        columns = Self.distinct(
            indices.map { String(cString: sqlite3_column_name(statement.pointer, $0)) }, besides: others)
    }

    /// A second `id` becomes `id:1`, so that an object can hold both.
    private static func distinct(_ names: [String], besides others: [String]) -> [String] {
        var taken = Set(names + others)
        var seen = Set(others)
        return names.map { name in
            if seen.insert(name).inserted { return name }
            var number = 1
            while !taken.insert("\(name):\(number)").inserted { number += 1 }
            return "\(name):\(number)"
        }
    }

    /// The next row; nil at the end.
    func next() throws -> [StorageEvent.Field]? {
        guard try statement.step() else { return nil }
        let row = statement.row
        return columns.indices.map { index in
            StorageEvent.Field(
                column: columns[index], value: row.value(at: indices[index]), type: kinds[index].type,
                coding: kinds[index].coding)
        }
    }
}
