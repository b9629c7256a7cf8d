import CSQLite
import StorageKit

/// Detects events that change one row, or one cell of it.
struct RowProbe {
    /// The row as commands print it, which the given target may not be.
    let target: TargetArgument
    private let row: RowTarget
    private let address: RowAddress

    /// - Throws: `notFound` for a row or column that never existed.
    init(_ target: TargetArgument, _ store: HistoryReader) throws {
        row = try store.row(target)
        self.target = row.target(in: target.table)
        address = row.address
    }

    /// Returns whether an event belongs to the row.
    func matches(_ batch: EventBatch, _ index: Int) -> Bool {
        batch.withView { view in
            // Most events are of other tables.
            view.shape(of: index).entity == address.entity && RowAddress(view, at: index) == address
        }
    }

    /// Returns the changes of the watched columns by an event of the row.
    func changes(_ event: StorageEvent) -> [(column: String, old: StorageEvent.Field?, new: StorageEvent.Field?)] {
        event.changedColumns(only: row.column.map { [$0] })
    }
}
