import CSQLite

@testable import StorageLog

/// Plays the log forward in memory and holds every event to the state before it.
struct LogOracle {
    private(set) var state: StoreDump = [:]
    /// Positions of all events of a row, oldest first, deleted rows included.
    private(set) var history: [RowAddress: [Int64]] = [:]
    private(set) var head: Int64 = 0
    private(set) var lastCommit: Int64 = 0
    private(set) var lastTime = Int64.min

    struct RowAddress: Hashable {
        var entity: UInt32
        var key: [Cell]
    }

    /// Applies events, and returns what is wrong with them.
    mutating func apply(_ events: [LoggedEvent]) -> [String] {
        var faults: [String] = []
        for event in events { apply(event, &faults) }
        return faults
    }

    private mutating func apply(_ event: LoggedEvent, _ faults: inout [String]) {
        if event.position != head + 1 { faults.append("@\(event.position) follows @\(head)") }
        head = event.position
        if event.commit.number != lastCommit && event.commit.number != lastCommit + 1 {
            faults.append("commit \(event.commit.number) follows \(lastCommit)")
        }
        if event.commit.time < lastTime { faults.append("time goes back at @\(event.position)") }
        lastCommit = event.commit.number
        lastTime = event.commit.time

        let address = RowAddress(entity: event.entity, key: event.key)
        let previous = history[address]?.last ?? 0
        if event.previous != previous { faults.append("\(event) should point back to @\(previous)") }
        history[address, default: []].append(event.position)

        let row = state[event.entity]?[event.key]
        if event.operation == STORAGE_INSERT {
            if row != nil { faults.append("\(event) inserts a row that is there") }
            state[event.entity, default: [:]][event.key] = DumpedRow(cells: event.new, position: event.position)
            return
        }
        guard var row else { return faults.append("\(event) changes a row that doesn't exist") }
        for (column, old) in event.old where (row.cells[column] ?? nil) != nil && row.cells[column] != old {
            faults.append(
                "\(event) has the old value \(old) of column \(column), which was \(row.cells[column] ?? .null)")
        }
        if event.operation == STORAGE_DELETE {
            state[event.entity]?[event.key] = nil
            return
        }
        if event.columns.allSatisfy({ event.old[$0] == event.new[$0] }) { faults.append("\(event) changes nothing") }
        for column in event.columns where event.old[column] == event.new[column] {
            faults.append("\(event) names column \(column), which didn't change")
        }
        row.cells.merge(event.new) { $1 }
        row.position = event.position
        state[event.entity]?[event.key] = row
    }

    /// What the tables should hold, given the columns that they have now.
    func expected(_ catalog: Catalog) -> StoreDump {
        var expected: StoreDump = [:]
        for entity in CatalogEntity.reserved + catalog.live {
            let columns = entity.live.filter { $0.keyOrdinal == 0 }
            expected[entity.id] = (state[entity.id] ?? [:]).mapValues { row in
                var cells: [UInt32: Cell] = [:]
                // A row from before a column was added holds the column's default.
                for column in columns { cells[column.id] = row.cells[column.id] ?? Cell(column.fallback) }
                return DumpedRow(cells: cells, position: row.position)
            }
        }
        return expected
    }

    /// What differs between the tables and the log.
    func differences(_ actual: StoreDump, _ catalog: Catalog) -> [String] {
        let expected = expected(catalog)
        var found: [String] = []
        for entity in Set(expected.keys).union(actual.keys).sorted() {
            let wanted = expected[entity] ?? [:]
            let rows = actual[entity] ?? [:]
            for key in Set(wanted.keys).union(rows.keys) where wanted[key] != rows[key] {
                found.append(
                    "entity \(entity) key \(key): log says \(wanted[key].map { "\($0)" } ?? "absent"), table has \(rows[key].map { "\($0)" } ?? "absent")"
                )
            }
        }
        return found
    }
}
