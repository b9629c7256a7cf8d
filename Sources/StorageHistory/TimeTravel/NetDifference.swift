internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog

/// The difference between two states of a store: one net change for each row that differs.
///
/// It is folded from the events between the two positions, which are read once; changes that don't fit in memory are moved to a
/// temporary database. Only if a column or a table was dropped in between, its earlier rows are rebuilt from the log before,
/// because no event holds the dropped values.
///
/// Not `Sendable`: one thread at a time may use it. Once created, it doesn't need the store any longer.
package final class NetDifference {
    /// Which rows to compare.
    package struct Selection: Sendable {
        /// Tables by their current name or that in either state; all if there are neither tables nor rows.
        package var tables: Set<String> = []
        /// Single rows, found along their own events.
        package var rows: [RowAddress] = []

        package init() {}
    }

    package let from: Int64
    package let to: Int64
    /// The tables that were compared, by name.
    package let tables: [DifferenceTable]
    let store: NetChangeStore
    let isBackward: Bool
    let lower: Int64
    let upper: Int64
    /// The index in `tables` of each entity.
    private var tableOfEntity: [UInt32: Int] = [:]
    let present: Catalog
    let selection: Selection
    /// The indexes of the tables of which all rows are compared.
    private(set) var scanned: Set<Int> = []

    /// - Parameters:
    ///   - database: A connection inside a read, so that it sees one state of the log.
    ///   - to: May lie before `from`; the difference then leads back.
    ///   - forStatements: Whether the changes are converted to SQL: a table or column that was dropped and created again then
    ///     counts as two.
    ///   - memoryLimit: Bytes that changes may take before they are moved to the temporary database.
    package convenience init(
        _ database: Connection, from: Int64, to: Int64, selection: Selection = Selection(),
        forStatements: Bool = false, memoryLimit: Int = 16 << 20
    ) throws {
        try self.init(
            unread: database, from: from, to: to, selection: selection, forStatements: forStatements,
            memoryLimit: memoryLimit)
        try read(database)
    }

    /// Creates a difference that has only its tables so far: ``read(_:after:progress:)`` reads the events.
    package init(
        unread database: Connection, from: Int64, to: Int64, selection: Selection = Selection(),
        forStatements: Bool = false, memoryLimit: Int = 16 << 20
    ) throws {
        self.selection = selection
        self.from = from
        self.to = to
        isBackward = to < from
        (lower, upper) = (min(from, to), max(from, to))
        let all = DifferenceTable.all(
            from: try Catalog.load(database, at: from), to: try Catalog.load(database, at: to),
            matchesNames: !forStatements)
        let isWhole = selection.tables.isEmpty && selection.rows.isEmpty
        let names = Set(selection.tables.map(ExactText.init))
        let present = try Catalog.load(database)
        self.present = present
        let isNamed = { (table: DifferenceTable) in
            [table.from, table.to].compactMap { $0 }.contains { entity in
                let now = present.entity(id: entity.id) ?? entity
                return names.contains(ExactText(entity.name)) || names.contains(ExactText(now.name))
            }
        }
        tables = all.filter { table in
            isWhole || isNamed(table)
                || selection.rows.contains { [table.from?.id, table.to?.id].contains($0.entity) }
        }
        store = try NetChangeStore(tables, memoryLimit: memoryLimit)
        for (tableIndex, table) in tables.enumerated() {
            for entity in [table.from, table.to] { if let entity { tableOfEntity[entity.id] = tableIndex } }
        }
        scanned = Set(tables.indices.filter { isWhole || isNamed(tables[$0]) })
    }

    /// Reads the events between the two positions.
    ///
    /// - Parameters:
    ///   - resumePoint: Where the first changes ended that were reported already; earlier rows aren't read again.
    ///   - progress: Called with the position that has been reached.
    package func read(
        _ database: Connection, after resumePoint: ResumePoint? = nil, progress: (Int64) -> Void = { _ in }
    ) throws {
        guard lower < upper else { return }
        try foldTables(scanned.filter { $0 >= resumePoint?.table ?? 0 }, from: database, progress: progress)
        for row in selection.rows {
            guard let tableIndex = tableOfEntity[row.entity], !scanned.contains(tableIndex) else { continue }
            let table = tables[tableIndex]
            let before = isBackward ? table.to : table.from
            let after = isBackward ? table.from : table.to
            let key = row.values
            // If another table took the name, the row has a history in each.
            if let before {
                try foldRow(key, of: present.entity(id: before.id) ?? before, table: tableIndex, from: database)
            }
            if let after, after.id != before?.id {
                try foldRow(key, of: present.entity(id: after.id) ?? after, table: tableIndex, from: database)
            }
        }
        try store.flush()
    }

    /// Calls `body` with the changes, table by table, in the order of their keys, until it returns false.
    ///
    /// - Parameters:
    ///   - operations: Only changes of these operations.
    ///   - resumePoint: Only changes after this point.
    package func forEachChange(
        _ operations: Set<StorageEvent.Operation> = Set(StorageEvent.Operation.allCases),
        after resumePoint: ResumePoint? = nil,
        _ body: (NetChange) throws -> Bool
    ) throws {
        let cursor = Cursor(self, after: resumePoint)
        while let change = try cursor.next() {
            if operations.contains(change.operation), try !body(change) { return }
        }
    }

    package func makeCursor() -> Cursor { Cursor(self) }

    /// Iterates over the changes one at a time.
    package final class Cursor {
        private let difference: NetDifference
        private var table: Int
        private var resumePoint: ResumePoint?
        private var rows: PreparedStatement?

        init(_ difference: NetDifference, after resumePoint: ResumePoint? = nil) {
            self.difference = difference
            self.resumePoint = resumePoint
            table = (resumePoint?.table ?? 0) - 1
        }

        package func next() throws -> NetChange? {
            while table < difference.tables.count {
                guard let rows, let net = try NetChangeStore.next(of: rows) else {
                    table += 1
                    let key = resumePoint?.table == table ? resumePoint?.key : nil
                    rows = table < difference.tables.count ? try difference.store.rows(of: table, after: key) : nil
                    continue
                }
                let change = NetChange(net, table: difference.tables[table], isBackward: difference.isBackward)
                if let change { return change }
            }
            return nil
        }
    }
}

// MARK: Folding

extension NetDifference {
    /// Folds all rows of some tables.
    private func foldTables(
        _ tableIndices: Set<Int>, from database: Connection, progress: (Int64) -> Void
    ) throws {
        let wanted = tableOfEntity.filter { tableIndices.contains($0.value) }
        guard !wanted.isEmpty else { return }
        for tableIndex in tableIndices.sorted() { try addLost(of: tableIndex, from: database) }
        let positions = lower + 1...upper
        try LogReader(database).forEachBatch(
            in: positions, where: { $0.entities.contains { wanted[$0] != nil } }
        ) { batch in
            try batch.withView { view in
                let tableIndexOfShape = (0..<view.shapeCount).map { wanted[view.shapes[$0].entity] }
                for index in 0..<view.count {
                    guard let tableIndex = tableIndexOfShape[Int(view.events[index].shape)],
                        positions.contains(batch.header.first + Int64(index))
                    else { continue }
                    try store.add(NetRow(view, event: index), to: tableIndex)
                }
            }
            progress(batch.header.last)
            return true
        }
    }

    /// The columns of the earlier state that were dropped, alone or with their table; no event holds their last values.
    func lostColumns(of tableIndex: Int) -> (entity: CatalogEntity, columns: [CatalogColumn])? {
        let table = tables[tableIndex]
        let (before, after) = isBackward ? (table.to, table.from) : (table.from, table.to)
        guard let before else { return nil }
        let rest = before.live.filter { $0.keyOrdinal == 0 }
        guard let after, after.id == before.id else { return (before, rest) }
        let lost = rest.filter { column in !after.live.contains { $0.id == column.id } }
        return lost.isEmpty ? nil : (before, lost)
    }

    /// Adds the rows of the earlier state if columns of it were dropped.
    private func addLost(of tableIndex: Int, from database: Connection) throws {
        guard lower > 0, let (entity, columns) = lostColumns(of: tableIndex) else { return }
        let scratch = try ScratchTables()
        let target = try scratch.target(for: entity)
        try PreparedStatement(scratch.database, "BEGIN").execute()
        try TableReplay(target: target, database: scratch.database, source: database).applyEvents(through: lower)
        let names = (entity.key + columns).map(ScratchTables.name).joined(separator: ", ")
        let select = try PreparedStatement(scratch.database, "SELECT \(names) FROM \(ScratchTables.table(of: entity))")
        while try select.step() {
            let key = entity.key.indices.map { ExactValue(select, column: Int32($0)) }
            let cells = columns.enumerated().map { index, column in
                NetRow.Cell(column: column.id, value: ExactValue(select, column: Int32(index + entity.key.count)))
            }
            try store.add(
                NetRow(untouched: cells, of: RowAddress(entity: entity.id, values: key)), to: tableIndex)
        }
    }

    /// Folds one row, along its own events.
    private func foldRow(
        _ key: [ExactValue], of entity: CatalogEntity, table tableIndex: Int, from database: Connection
    ) throws {
        let reader = LogReader(database)
        var net = try net(key, of: entity, reader) { true }
        if let (loser, columns) = lostColumns(of: tableIndex), loser.id == entity.id,
            let image = try reader.image(
                of: key.map(\.value), in: entity, at: lower, columns: Set(columns.map(\.id)))
        {
            let cells = columns.map { NetRow.Cell(column: $0.id, value: image.value(of: $0)) }
            let untouched = NetRow(untouched: cells, of: RowAddress(entity: entity.id, values: key))
            net = net.map { untouched.followed(by: $0) } ?? untouched
        }
        if let net { try store.add(net, to: tableIndex) }
    }

    /// The net change of one row's events in between; nil if there are none.
    ///
    /// - Parameter goesOn: Whether to read one more event; after it has returned false, the result is invalid.
    func net(
        _ key: [ExactValue], of entity: CatalogEntity, _ reader: LogReader, while goesOn: () -> Bool
    ) throws -> NetRow? {
        var net: NetRow?
        try reader.forEachVersion(of: key.map(\.value), in: entity) { batch, index in
            let position = batch.header.first + Int64(index)
            guard goesOn() else { return false }
            guard position <= upper else { return true }
            guard position > lower else { return false }
            let change = batch.withView { NetRow($0, event: index) }
            net = net.map { change.followed(by: $0) } ?? change
            return true
        }
        return net
    }
}
