internal import CSQLite
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRecords
internal import StorageViews
internal import Synchronization

/// A row as live queries read it; read once for all queries that a change concerns.
///
/// Isolation: `Sendable`; the document is created when the first query needs it, behind a mutex.
final class HubLiveRow: Sendable {
    let row: HubEntityTable.Row
    /// Nil for a row that isn't a document.
    let id: String?
    private let table: HubEntityTable
    private let made = Mutex<Document?>(nil)

    /// A document, and its fields as queries evaluate them.
    struct Document {
        let document: HubLiveDocument
        let json: JSONValue
    }

    init(_ row: HubEntityTable.Row, in table: HubEntityTable) {
        (self.row, self.table) = (row, table)
        id = table.id(of: row.key)
    }

    /// The document with the row's id.
    func document(_ id: String) -> Document {
        made.withLock { made in
            if let made { return made }
            let fields = table.fields(of: row).values
            let document = Document(
                document: HubLiveDocument(id: id, fields: fields), json: JSONValue(fields: fields))
            made = document
            return document
        }
    }
}

extension RowForm<HubLiveRow> {
    /// The rows of a table.
    init(_ table: HubEntityTable) {
        let live = table.entity.live
        let key = Int32(live.firstIndex { $0.keyOrdinal > 0 } ?? 0)
        let others = live.indices.filter { live[$0].keyOrdinal == 0 }.map(Int32.init)
        self.init(table: QueryTable(table.entity)) { row in
            func value(_ column: Int32) -> StorageValue {
                ExactValue(storage_value(borrowing: row, column: column), bytes: nil).value
            }
            return HubLiveRow(HubEntityTable.Row(key: value(key), values: others.map(value)), in: table)
        }
    }
}
