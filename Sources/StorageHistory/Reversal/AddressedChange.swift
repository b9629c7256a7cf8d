internal import CSQLite
internal import StorageCore
internal import StorageLog

/// A net change with the address of its row, value for value as the log has it: text that isn't valid UTF-8 comes back
/// as it was.
struct AddressedChange {
    let row: RowAddress
    let key: [ExactValue]
    var change: NetRow

    /// The change that an event is.
    init(_ view: EventView, event: Int) {
        row = RowAddress(view, at: event)
        let key = view.key(of: event)
        self.key = (0..<Int(view.shape(of: event).key_count)).map { ExactValue(key[$0], bytes: view.bytes) }
        change = NetRow(view, event: event)
    }
}
