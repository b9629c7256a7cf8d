import CSQLite
import StorageKit

/// Drift: rows that were changed by a program that doesn't capture changes, so that the log doesn't have them.
extension Doctor {
    /// The number of rows to examine in each table, and of events at the end of the log.
    private static let sample = 1_000

    func drift() throws -> [Checkup] {
        let catalog = try Catalog.load(database)
        let log = LogReader(database)
        let head = try log.head().position
        var looked = 0
        var found: [Checkup] = []
        let definitions = try StoredDefinitions(database)
        for entity in catalog.live {
            database.forgetCompiledStatements()
            // The check of the schema reports it.
            if try ForeignSchemaChange(of: entity, in: definitions)?.lacksColumns ?? false { continue }
            let rows = try sample(of: entity)
            looked += rows.count
            let drifted = try drifted(rows, of: entity, in: log, head: head) + lost(of: entity, log, head)
            guard drifted > 0 else { continue }
            let isAhead = rows.contains { $0.position > head && Limits.numbers.contains($0.position) }
            found.append(isAhead ? ahead(entity, head) : try failure(entity, drifted))
        }
        guard found.isEmpty else { return found }
        return [
            .ok(
                "drift",
                "\(NumberText.count(looked, "row")) of a sample match the log; --deep compares all")
        ]
    }

    /// What only the table has isn't discarded: the log may have lost it.
    private func ahead(_ entity: CatalogEntity, _ head: Int64) -> Checkup {
        .failed(
            "drift",
            "\(TargetArgument(table: entity.name)) has rows that were changed after @\(head), where the log ends: the log may have lost events",
            remedy:
                "Restore a backup: storagekit restore BACKUP -o NEW. Without one, make events of what the tables have: storagekit record -s \(quotedPath). If only positions differ: storagekit rebuild -s \(quotedPath)"
        )
    }

    private func failure(_ entity: CatalogEntity, _ drifted: Int) throws -> Checkup {
        let repair = try rebuild([entity.name])
        let rows = NumberText.count(drifted, "row of a sample differs from", plural: "rows of a sample differ from")
        return .failed(
            "drift",
            "\(rows) the log in \(TargetArgument(table: entity.name)): another program has written to the store",
            remedy: repair == nil
                ? "Undo the change of the table itself first, after you have copied what you need of it: storagekit doctor -s \(quotedPath)"
                : "Look first: storagekit record -s \(quotedPath) --dry-run. To keep the changes: storagekit record -s \(quotedPath). To restore the log's values: storagekit doctor -s \(quotedPath) --fix",
            repair: repair)
    }

    private struct SampledRow {
        var key: [ExactValue]
        var position: Int64
        var values: [UInt32: ExactValue]
    }

    /// Returns a sample of rows, spread evenly over the table's range of rowids.
    private func sample(of entity: CatalogEntity) throws -> [SampledRow] {
        let rowid = entity.rowidName ?? "rowid"
        let table = quoted(entity.stored)
        let bounds = try PreparedStatement(database, "SELECT min(\(rowid)), max(\(rowid)) FROM \(table)")
        guard try bounds.step(), !bounds.row.isNull(at: 0) else { return [] }
        let (first, last) = (bounds.integer(0), bounds.integer(1))
        let columns = entity.key + entity.live.filter { $0.keyOrdinal == 0 }
        let select = try PreparedStatement(
            database,
            """
            SELECT \(rowid), _position, \(columns.map { quoted($0.stored) }.joined(separator: ", ")) FROM \(table)
            WHERE \(rowid) >= ?1 ORDER BY \(rowid) LIMIT 1
            """)
        var rows: [SampledRow] = []
        var seen: Set<Int64> = []
        let span = Double(last) - Double(first)
        for step in 0..<Self.sample {
            let target = Double(first) + span * Double(step) / Double(Self.sample - 1)
            select.bind(min(max(Int64(exactly: target.rounded(.down)) ?? first, first), last), at: 1)
            defer { select.reset() }
            guard try select.step(), seen.insert(select.integer(0)).inserted else { continue }
            let values = columns.indices.map { ExactValue(select, column: Int32($0) + 2) }
            rows.append(
                SampledRow(
                    key: Array(values.prefix(entity.key.count)), position: select.integer(1),
                    values: Dictionary(
                        uniqueKeysWithValues: zip(columns, values).dropFirst(entity.key.count).map { ($0.id, $1) })
                ))
        }
        return rows
    }

    /// Returns how many of the rows differ from the log. The rows' events are followed back together, newest first, so that each segment is read
    /// once, and not once for each of its rows.
    private func drifted(_ rows: [SampledRow], of entity: CatalogEntity, in log: LogReader, head: Int64) throws -> Int {
        let addresses = rows.map { RowAddress(entity: entity.id, values: $0.key) }
        var builders = rows.map { _ in RowImageBuilder(columns: nil) }
        var drifted: Set<Int> = []
        var pending = rows.indices.map { (position: rows[$0].position, row: $0) }.sorted { $0.position < $1.position }
        var batch: EventBatch?
        while let (position, row) = pending.popLast() {
            if batch.map({ position < $0.header.first }) ?? true {
                batch = (1...max(head, 1)).contains(position) ? try log.batch(containing: position) : nil
            }
            guard let batch else {
                drifted.insert(row)
                continue
            }
            let index = Int(position - batch.header.first)
            let (isSame, previous) = batch.withView { view in
                (RowAddress(view, at: index) == addresses[row], view.events[index].previous)
            }
            guard isSame else {
                drifted.insert(row)
                continue
            }
            if builders[row].add(batch, index, isIgnored: false) {
                guard previous > 0, previous < position else {
                    drifted.insert(row)
                    continue
                }
                let place = pending.firstIndex { $0.position > previous } ?? pending.endIndex
                pending.insert((previous, row), at: place)
            } else if differs(rows[row], from: builders[row], of: entity) {
                drifted.insert(row)
            }
        }
        return drifted.count
    }

    private func differs(_ row: SampledRow, from builder: RowImageBuilder, of entity: CatalogEntity) -> Bool {
        guard let image = builder.image, image.insert != nil else { return true }
        return entity.live.contains { column in
            column.keyOrdinal == 0 && row.values[column.id] != image.value(of: column)
        }
    }

    /// Returns how many of the rows in the log's last events are missing, or exist although they were deleted.
    private func lost(of entity: CatalogEntity, _ log: LogReader, _ head: Int64) throws -> Int {
        guard head > 0 else { return 0 }
        let conditions = entity.key.enumerated().map { "\(quoted($1.stored)) IS ?\($0 + 1)" }.joined(separator: " AND ")
        let select = try PreparedStatement(
            database, "SELECT _position FROM \(quoted(entity.stored)) WHERE \(conditions)")
        var seen: Set<RowAddress> = []
        var (lost, batches) = (0, 0)
        try log.forEachBatch(in: 1...head, descending: true, where: { $0.entities.contains(entity.id) }) { batch in
            batches += 1
            try batch.withView { view in
                for index in stride(from: view.count - 1, through: 0, by: -1) where seen.count < Self.sample {
                    let shape = view.shape(of: index)
                    guard shape.entity == entity.id else { continue }
                    guard seen.insert(RowAddress(view, at: index)).inserted else { continue }
                    let key = view.key(of: index)
                    for offset in 0..<Int(shape.key_count) {
                        select.bind(key[offset], bytes: view.bytes, at: Int32(offset) + 1)
                    }
                    let isThere = try select.step()
                    select.reset()
                    if isThere == (shape.isDelete) { lost += 1 }
                }
            }
            return seen.count < Self.sample && batches < 16
        }
        return lost
    }
}
