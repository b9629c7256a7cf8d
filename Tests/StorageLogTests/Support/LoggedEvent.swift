import CSQLite

@testable import StorageLog

/// An event copied out of the log, byte for byte.
struct LoggedEvent: Equatable, CustomStringConvertible {
    var position: Int64
    var commit: CommitInfo
    var entity: UInt32
    var operation: Int
    var key: [Cell]
    var columns: [UInt32]
    /// By column; empty for an insert.
    var old: [UInt32: Cell] = [:]
    /// By column; empty for a delete.
    var new: [UInt32: Cell] = [:]
    var previous: Int64

    var description: String {
        "@\(position) commit \(commit.number) entity \(entity) op \(operation) key \(key) old \(old) new \(new) ← \(previous)"
    }
}

extension EventView {
    func logged(_ index: Int, position: Int64, commit: CommitInfo) -> LoggedEvent {
        let shape = shape(of: index)
        let key = (0..<Int(shape.key_count)).map { Cell(self.key(of: index)[$0], bytes) }
        let count = Int(shape.column_count)
        let columns = (0..<count).map { shape.columns[$0] }
        let values = self.columns(of: index)
        var event = LoggedEvent(
            position: position, commit: commit, entity: shape.entity, operation: Int(shape.operation), key: key,
            columns: columns, previous: events[index].previous)
        for (place, column) in columns.enumerated() {
            if event.operation != STORAGE_INSERT { event.old[column] = Cell(values[place], bytes) }
            if event.operation == STORAGE_INSERT { event.new[column] = Cell(values[place], bytes) }
            if event.operation == STORAGE_UPDATE { event.new[column] = Cell(values[count + place], bytes) }
        }
        return event
    }
}

extension EventBatch {
    var logged: [LoggedEvent] {
        withView { view in
            commits.flatMap { commit in
                commit.events.prefix { $0 < filled }.map {
                    view.logged($0, position: header.first + Int64($0), commit: commit.info)
                }
            }
        }
    }
}

extension LogReader {
    /// The events of a range of positions. Throws nothing of its own: what is missing is missing in the result.
    func events(_ positions: ClosedRange<Int64> = 1...Int64.max) throws -> [LoggedEvent] {
        var events: [LoggedEvent] = []
        try forEachBatch(in: positions) { batch in
            events.append(contentsOf: batch.logged.filter { positions.contains($0.position) })
            return true
        }
        return events
    }
}
