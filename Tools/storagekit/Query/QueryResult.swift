import CSQLite
import StorageKit

/// The rows of a query of the user's, a row at a time.
///
/// Values of columns that come from an entity's table keep the meaning that the catalog gives them.
final class QueryResult {
    let columns: [String]
    private let statement: PreparedStatement
    private let kinds: [(type: String, coding: String)]

    init(_ statement: PreparedStatement, catalog: Catalog) {
        self.statement = statement
        let count = sqlite3_column_count(statement.pointer)
        columns = Self.distinct((0..<count).map { String(cString: sqlite3_column_name(statement.pointer, $0)) })
        kinds = (0..<count).map { index in
            guard let table = sqlite3_column_table_name(statement.pointer, index),
                let name = sqlite3_column_origin_name(statement.pointer, index),
                let entity = catalog.entity(stored: String(cString: table))
            else { return ("", "") }
            let stored = String(cString: name).folded
            guard let column = entity.live.first(where: { $0.stored.folded == stored }) else { return ("", "") }
            return (column.type, column.coding)
        }
    }

    /// A second `id` becomes `id:1`, so that an object can hold both.
    private static func distinct(_ names: [String]) -> [String] {
        var taken = Set(names)
        var seen: Set<String> = []
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
                column: columns[index], value: row.value(at: Int32(index)), type: kinds[index].type,
                coding: kinds[index].coding)
        }
    }
}
