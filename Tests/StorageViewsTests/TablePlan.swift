import CSQLite
import GRDB
import PredicateTestSupport
import StorageCore
import StorageEntities

@testable import StorageLog
@testable import StorageViews

/// A table `rows` as data: its columns, of which the first ones are its key. A table `WITHOUT ROWID` has no history, so it
/// isn't among those that can be.
struct TablePlan: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        let type: String
        let collation: RowPredicate.Collation

        init(_ name: String, _ type: String, _ collation: RowPredicate.Collation = .binary) {
            (self.name, self.type, self.collation) = (name, type, collation)
        }
    }

    let columns: [Column]
    let keyCount: Int

    init(_ columns: [Column], keyCount: Int = 1) { (self.columns, self.keyCount) = (columns, keyCount) }

    /// A text as its key, and columns of every affinity and collation.
    static let standard = TablePlan(
        [Column("id", "TEXT")] + SQLiteTable.declared.map { Column($0.name, $0.type, $0.collation) })

    var names: [String] { columns.map(\.name) }
    var keyNames: [String] { Array(names.prefix(keyCount)) }
    var contentNames: [String] { Array(names.dropFirst(keyCount)) }

    func collation(of name: String) -> RowPredicate.Collation {
        columns.first { $0.name == name }?.collation ?? .binary
    }

    var sql: String {
        let declared = columns.enumerated().map { place, column in
            "\(quoted(column.name)) \(column.type) COLLATE \(column.collation.rawValue)"
                + (place < keyCount ? " NOT NULL" : "")
        }
        return """
            CREATE TABLE rows(\(declared.joined(separator: ", ")), _position INTEGER NOT NULL DEFAULT 0,
                              PRIMARY KEY(\(keyNames.map(quoted).joined(separator: ", "))))
            """
    }

    func entity(id: UInt32) -> CatalogEntity {
        CatalogEntity(
            id: id, name: "rows", stored: "rows",
            columns: columns.enumerated().map { place, column in
                CatalogColumn(
                    id: id + 1 + UInt32(place), name: column.name, type: column.type,
                    keyOrdinal: place < keyCount ? place + 1 : 0, required: place < keyCount)
            })
    }

    var shape: QueryTable { QueryTable(entity(id: 1)) }

    var form: RowForm<[StorageValue]> {
        let places = columns.indices
        return RowForm(table: shape) { row in
            places.map { row.value(at: Int32($0)) }
        }
    }
}

extension QuerySQL.Text {
    /// What a statement answers.
    func rows(_ db: GRDB.Database) throws -> [[StorageValue]] {
        try run(db) { found in
            var rows: [[StorageValue]] = []
            while try found.next() {
                rows.append((0..<sqlite3_column_count(found.row.statement)).map { found.row.value(at: $0) })
            }
            return rows
        }
    }
}
