import CSQLite
import StorageKit

/// Looks at events whether they change one row, or one cell of it.
struct RowProbe {
    let target: TargetArgument
    private let row: RowTarget
    private let address: RowAddress

    /// - Throws: A `notFound` for a row or column that never was.
    init(_ target: TargetArgument, _ store: HistoryReader) throws {
        self.target = target
        row = try store.row(target)
        address = row.address
    }

    /// Whether an event is one of the row's.
    func matches(_ batch: EventBatch, _ index: Int) -> Bool {
        batch.withView { view in
            // Most events are of other tables.
            view.shape(of: index).entity == address.entity && RowAddress(view, at: index) == address
        }
    }

    /// What an event of the row makes of each column that is looked at.
    func changes(_ event: StorageEvent) -> [(column: String, old: StorageEvent.Field?, new: StorageEvent.Field?)] {
        event.changedColumns(only: row.column.map { [$0] })
    }
}
