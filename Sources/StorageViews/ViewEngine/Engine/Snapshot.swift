internal import CSQLite
package import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageLog
internal import StorageRouting

/// The one state of the store that all nodes see in a step.
///
/// Isolation: not `Sendable`; it belongs to its connection's thread and ends with the read.
package final class Snapshot {
    package let rows: GRDB.Database
    package let position: Int64
    let current: CurrentRows
    private var items: [ItemForm: AnyObject] = [:]
    /// Whether work must not be postponed.
    let isUrgent: Bool
    /// How many statements were run.
    var statementCount = 0

    private struct ItemForm: Hashable {
        let table: String
        let item: ObjectIdentifier
        let changes: ObjectIdentifier
    }

    private final class Items<Item> {
        /// Kept, so that no others are known by the same identifier.
        let changes: ChangeFold
        var byChange: [Int: Item] = [:]

        init(_ changes: ChangeFold) { self.changes = changes }
    }

    init(_ state: FeedState, isUrgent: Bool) {
        self.isUrgent = isUrgent
        rows = state.rows
        position = state.position
        current = CurrentRows(state.rows)
    }

    /// To be called where other changes follow: items are known by the numbers of changes.
    func forgetItems() { items.removeAll() }

    /// Runs a statement over a form's columns.
    func run<Result>(_ text: QuerySQL.Text, _ body: (StatementRows) throws -> Result) throws -> Result {
        statementCount += 1
        return try text.run(rows, body)
    }

    func integer(_ text: QuerySQL.Text) throws -> Int {
        statementCount += 1
        guard case .integer(let value) = try text.value(rows) else { return 0 }
        return Int(value)
    }

    /// An integer from the current version of a changed row; nil if the row doesn't exist.
    func integer(_ sql: String, of change: ChangedRow) throws -> Int64? {
        statementCount += 1
        return try rows.withKept(sql) { found in
            change.bindKey(to: found.parameters)
            return try found.next() ? sqlite3_column_int64(found.row.statement, 0) : nil
        }
    }

    /// The current version of a changed row, as a form reads it. Nodes that read the same form share one look-up.
    ///
    /// - Throws: ``StaleNode`` if the row doesn't exist.
    func item<Item>(_ form: RowForm<Item>, _ change: ChangedRow) throws -> Item {
        guard form.isShared else { return try read(form, change) }
        let known = items(form, change.changes)
        if let item = known.byChange[change.index] { return item }
        let item = try read(form, change)
        known.byChange[change.index] = item
        return item
    }

    private func items<Item>(_ form: RowForm<Item>, _ changes: ChangeFold) -> Items<Item> {
        let key = ItemForm(
            table: form.table.stored, item: ObjectIdentifier(Item.self), changes: ObjectIdentifier(changes))
        if let known = items[key] as? Items<Item> { return known }
        let known = Items<Item>(changes)
        items[key] = known
        return known
    }

    private func read<Item>(_ form: RowForm<Item>, _ change: ChangedRow) throws -> Item {
        statementCount += 1
        return try rows.withKept(form.selectByKey) { found in
            change.bindKey(to: found.parameters)
            guard try found.next() else { throw StaleNode() }
            return try form.read(found.row)
        }
    }
}
