import CSQLite
import GRDB
import StorageCore
import StorageKit

/// A SELECT that `watch` follows: the user's, or a page of a table that includes rows of other tables.
struct WatchedQuery: Sendable {
    let columns: [WatchedRows.Column]
    private let text: QuerySQL.Text
    /// The index of each column in the statement's rows.
    private let indices: [Int32]

    /// A row, identified by the value of its first column.
    private struct Row: Identifiable, Hashable, Sendable {
        let values: [StorageValue]

        var id: StorageValue { values.first ?? .null }
    }

    /// - Throws: `StorageError` for anything but a single SELECT.
    init(_ text: QuerySQL.Text, _ store: HistoryReader) throws {
        let statement = try PreparedStatement(query: text.sql, on: store.connection)
        let result = QueryResult(statement, catalog: store.catalog, sql: text.sql)
        self.text = text
        columns = zip(result.columns, result.kinds).map {
            WatchedRows.Column(name: $0, type: $1.type, coding: $1.coding)
        }
        indices = result.indices
    }

    /// Passes updates on, until the store is closed or the task is cancelled.
    func follow(_ storage: Storage, into updates: WatchedUpdates) -> Task<Void, Never> {
        let live = storage.live { [text, indices] db in
            try text.run(db) { found in
                var rows: [Row] = []
                while try found.next() { rows.append(Row(values: indices.map { found.row.value(at: $0) })) }
                return rows
            }
        }
        return Task {
            do {
                let differences = live.differences { error in
                    var update = ListUpdate<[StorageValue]>()
                    update.error = error
                    updates.put(update)
                }
                for try await difference in differences {
                    var update = ListUpdate<Row>()
                    (update.position, update.whole) = (difference.position, difference.whole)
                    update.changes = difference.changes
                    updates.put(update.map(\.values))
                }
                updates.end()
            } catch {
                updates.end(throwing: error)
            }
        }
    }
}

extension WatchedQuery {
    /// Rows of another table to show with each row: those whose column contains its key.
    struct Included {
        let entity: CatalogEntity
        /// The column's stored name.
        let column: String

        /// - Parameter text: `TABLE.COLUMN`.
        init(_ text: String, _ store: HistoryReader) throws {
            guard let point = text.lastIndex(of: ".") else {
                throw CommandError(
                    .usage, "--include takes TABLE.COLUMN, and not \"\(text)\".", next: "storagekit watch --help")
            }
            entity = try WatchedRows.entity(String(text[..<point]), store)
            let name = String(text[text.index(after: point)...])
            guard let column = entity.live.first(where: { $0.name == name }) else {
                throw WatchedRows.noColumn(name, QueryTable(entity))
            }
            self.column = column.stored
        }

        /// Returns SQL for the rows as a JSON array, in the order of their keys. Blobs, which JSON doesn't have, are hexadecimal.
        fileprivate func sql(of key: String) -> String {
            let members = entity.live.map { column -> String in
                let name = "c.\(quoted(column.stored))"
                return """
                    \(column.name.quotedAsText), \
                    CASE typeof(\(name)) WHEN 'blob' THEN hex(\(name)) ELSE \(name) END
                    """
            }.joined(separator: ", ")
            let order = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            return """
                (SELECT json_group_array(json_object(\(members))) FROM (SELECT * FROM \(quoted(entity.stored)) AS i \
                WHERE i.\(quoted(column)) = w.\(key)\(order.isEmpty ? "" : " ORDER BY \(order)")) AS c) \
                AS \(quoted(entity.name))
                """
        }
    }

    /// Returns the SQL of a page's rows, each with rows of other tables.
    static func page(_ request: RowRequest, of table: QueryTable, including included: [Included]) throws
        -> QuerySQL.Text
    {
        var text = try QuerySQL(request, of: table).select(limit: request.limit)
        let key = quoted(table.columns[table.key[0]].stored)
        let columns = included.map { $0.sql(of: key) }.joined(separator: ", ")
        text.sql = "SELECT w.*, \(columns) FROM (\(text.sql)) AS w"
        return text
    }
}
