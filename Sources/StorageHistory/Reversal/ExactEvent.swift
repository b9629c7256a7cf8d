internal import CSQLite
internal import StorageCore
internal import StorageLog

/// An event that is to be taken back, value for value as the log has it: text that isn't valid UTF-8 comes back as it was.
struct ExactEvent {
    let row: RowEvent.Row
    let key: [ExactValue]
    let operation: StorageEvent.Operation
    /// What the columns held before, by their ids.
    let before: [UInt32: ExactValue]
    /// What they hold since.
    let after: [UInt32: ExactValue]

    init(_ view: EventView, at index: Int) {
        row = RowEvent.Row(view, at: index)
        key = ExactValue.key(of: view, at: index)
        let change = NetRow(view, event: index)
        operation = change.existed ? change.exists ? .update : .delete : .insert
        before = Dictionary(uniqueKeysWithValues: change.old.map { ($0.column, $0.value) })
        after = Dictionary(uniqueKeysWithValues: change.new.map { ($0.column, $0.value) })
    }
}

extension ExactValue {
    /// The key of the row that an event is of.
    static func key(of view: EventView, at index: Int) -> [ExactValue] {
        let key = view.key(of: index)
        return (0..<Int(view.shape(of: index).key_count)).map { ExactValue(key[$0], bytes: view.bytes) }
    }
}
