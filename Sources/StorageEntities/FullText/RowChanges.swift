internal import CSQLite
internal import StorageLog

/// The events of one commit by the row that they belong to, rows in the order of their first change.
struct RowChanges {
    struct Row: Hashable {
        let entity: UInt32
        let rowid: Int64
    }

    private(set) var changes: [(row: Row, events: [Int])] = []

    init(_ events: Range<Int>, of view: EventView, where isWanted: (UInt32) -> Bool) {
        var indices: [Row: Int] = [:]
        for event in events {
            let entity = view.shape(of: event).entity
            guard isWanted(entity) else { continue }
            let row = Row(entity: entity, rowid: view.events[event].rowid)
            if let index = indices[row] {
                changes[index].events.append(event)
            } else {
                indices[row] = changes.count
                changes.append((row, [event]))
            }
        }
    }
}
