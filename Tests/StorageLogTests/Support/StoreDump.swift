import CSQLite

@testable import StorageLog

/// One row of a table as it is on disk: every column by its id in the catalog.
struct DumpedRow: Equatable {
    var cells: [UInt32: Cell]
    var position: Int64
}

/// Every row of every entity, by key; the catalog is one of them.
typealias StoreDump = [UInt32: [[Cell]: DumpedRow]]

extension LogWriter {
    func dump() throws -> StoreDump { try StoreDump(reading: CatalogEntity.reserved + catalog.live, of: database) }
}

extension StoreDump {
    /// Reads the tables with plain SELECTs: what capture says is compared with this, so it shares no code with it.
    init(reading entities: [CatalogEntity], of database: Connection) throws {
        var dump: StoreDump = [:]
        for entity in entities {
            let key = entity.key
            let others = entity.live.filter { $0.keyOrdinal == 0 }
            let names = (key + others).map { quoted($0.stored) } + ["_position"]
            let select = try PreparedStatement(
                database, "SELECT \(names.joined(separator: ", ")) FROM \(quoted(entity.stored))")
            var rows: [[Cell]: DumpedRow] = [:]
            while try select.step() {
                let cells = names.indices.map { Cell(select.pointer, Int32($0)) }
                var row = DumpedRow(cells: [:], position: select.integer(Int32(names.count - 1)))
                for (place, column) in others.enumerated() { row.cells[column.id] = cells[key.count + place] }
                rows[Array(cells[..<key.count])] = row
            }
            dump[entity.id] = rows
        }
        self = dump
    }

    /// The values alone, of users' entities.
    var cells: [UInt32: [[Cell]: [UInt32: Cell]]] {
        filter { !CatalogEntity.isReserved($0.key) }.mapValues { $0.mapValues(\.cells) }
    }
}
