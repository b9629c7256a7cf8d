import StorageKit

/// The change that undoing an event makes.
struct UndoneEvent: PrintableChange {
    let event: StorageEvent

    var operation: StorageEvent.Operation {
        switch event.operation {
        case .insert: .delete
        case .update: .update
        case .delete: .insert
        }
    }
    var table: String { event.table }
    var key: [StorageEvent.Field] { event.key }
    var old: [StorageEvent.Field]? { event.new }
    var new: [StorageEvent.Field]? { event.old }
}
