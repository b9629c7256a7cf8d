import StorageKit

/// A change of one row: an event, or the net change between two points.
protocol PrintableChange {
    var operation: StorageEvent.Operation { get }
    var table: String { get }
    var key: [StorageEvent.Field] { get }
    var old: [StorageEvent.Field]? { get }
    var new: [StorageEvent.Field]? { get }
}

extension StorageEvent: PrintableChange {}
extension RowDifference: PrintableChange {}

extension PrintableChange {
    typealias Field = StorageEvent.Field

    /// The row's id as it is typed.
    var id: String { KeyText.text(of: key) }

    var target: TargetArgument { TargetArgument(table: table, id: id) }

    /// Returns the columns to print, with the values before and after.
    ///
    /// - Parameter columns: The only ones; all if nil.
    func changedColumns(only columns: [String]? = nil) -> [(column: String, old: Field?, new: Field?)] {
        let all: [(column: String, old: Field?, new: Field?)] =
            switch operation {
            case .update: zip(old ?? [], new ?? []).map { ($0.column, $0, $1) }
            case .insert: (new ?? []).filter { $0.value != .null }.map { ($0.column, nil, $0) }
            case .delete: (old ?? []).filter { $0.value != .null }.map { ($0.column, $0, nil) }
            }
        guard let columns else { return all }
        return all.filter { change in columns.contains { $0.utf8.elementsEqual(change.column.utf8) } }
    }
}
