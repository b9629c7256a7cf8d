import CSQLite
import Foundation
import StorageKit

/// Writes the log as a change history: one operation for each line, with its whole row.
///
/// Updates in the log contain only the changed columns; the rest of the row comes from temporary tables into which the log is folded up to that
/// event, so memory use stays small. Not `Sendable`: it is used on its connection's thread.
final class HistoryExporter {
    /// How the rows of one entity are read back and written.
    private struct Source: JSONRecord {
        let entity: CatalogEntity
        /// What its operations name it.
        let name: String
        let select: PreparedStatement
        /// The columns that `select` yields, and whether each is part of the row.
        let columns: [(column: CatalogColumn, isShown: Bool)]

        /// Writes the current row of `select`, without NULL columns: except one that is named `id`, because an import finds out by
        /// the first row whether the key has that name.
        func write(to json: inout JSONWriter) {
            let row = select.row
            for (index, (column, isShown)) in columns.enumerated() where isShown {
                let value = row.value(at: Int32(index))
                if case .null = value, column.name != "id" { continue }
                json.key(column.name)
                StoredValueWriter.write(value, type: column.type, coding: column.coding, to: &json)
            }
        }
    }

    private let store: HistoryReader
    private let output: StandardOutput
    private let scratch: ScratchTables
    private let fold: Fold
    private var sources: [UInt32: Source] = [:]
    private var writer = JSONWriter()
    private(set) var operations = 0

    init(_ store: HistoryReader, output: StandardOutput) throws {
        self.store = store
        self.output = output
        scratch = try ScratchTables()
        // Dropped entities and columns have a history, too, so nothing counts as dropped here.
        let recorded = store.catalog.entities.filter { !$0.isReserved }
        var names = UniqueNames(besides: recorded.filter { !$0.isDropped }.map(\.name))
        let entities = recorded.map(\.undropped)
        let targets = try entities.map(scratch.target)
        fold = Fold(scratch.database, targets: targets, checks: false)
        for (entity, known) in zip(entities, recorded) {
            let name = known.isDropped ? names.name(ofGone: known.name) : known.name
            sources[entity.id] = try source(entity, named: name)
        }
    }

    private func source(_ entity: CatalogEntity, named name: String) throws -> Source {
        let columns = entity.live.map { column in
            let isHiddenKey = column.keyOrdinal > 0 && column.coding.hasPrefix(ImportedCoding.key)
            return (column, !isHiddenKey || column.coding == ImportedCoding.keyInRow)
        }
        let names = columns.map { ScratchTables.name(of: $0.0) }.joined(separator: ", ")
        let condition = entity.key.map { "\(ScratchTables.name(of: $0)) = ?" }.joined(separator: " AND ")
        let select = try PreparedStatement(
            scratch.database, "SELECT \(names) FROM \(ScratchTables.table(of: entity)) WHERE \(condition)")
        return Source(entity: entity, name: name, select: select, columns: columns)
    }

    /// What operations name the tables, those of dropped ones included.
    var tables: Set<String> { Set(sources.values.map(\.name)) }

    /// Writes what a query wants; its tables are those that operations name.
    func run(_ query: LogQuery, progress: (Int64, Int64) -> Void) throws {
        let head = store.head.position
        guard head > 0 else { return }
        try PreparedStatement(scratch.database, "BEGIN").execute()
        try store.log.forEachBatch(in: 1...head, where: fold.wants) { batch in
            let commits = batch.commits
            var current = 0
            try fold.apply(
                batch,
                after: { index in
                    while commits[current].events.upperBound <= index { current += 1 }
                    let commit = commits[current].info
                    if query.wants(commit) { try write(index, of: batch, commit: commit, where: query) }
                })
            progress(batch.header.last, head)
            return true
        }
    }

    private func write(_ index: Int, of batch: EventBatch, commit: CommitInfo, where query: LogQuery) throws {
        try batch.withView { view in
            let shape = view.shape(of: index)
            guard let source = sources[shape.entity], query.tables?.containsExactly(source.name) ?? true else {
                return
            }
            let key = view.key(of: index)
            let operation = StorageEvent.Operation(shape)
            let id = KeyText.text(of: (0..<Int(shape.key_count)).map { view.value(key[$0]) }, in: source.entity)
            defer { source.select.reset() }
            if operation != .delete { try find(key, of: source, in: view) }
            try writer.object(
                HistoryRecord(
                    commit: commit, operation: operation, table: source.name, id: id,
                    row: operation == .delete ? nil : source))
            writer.endLine()
            operations += 1
            if writer.bytes.count > 1 << 16 { try output.write(&writer) }
        }
    }

    /// Steps `select` to the row as it is after an event.
    private func find(_ key: UnsafePointer<storage_value>, of source: Source, in view: EventView) throws {
        for part in source.entity.key.indices { source.select.bind(key[part], bytes: view.bytes, at: Int32(part + 1)) }
        guard try source.select.step() else { throw StorageError.corruptLog("a row that changed isn't there") }
    }

    func finish() throws { try output.write(&writer) }
}

extension CatalogEntity {
    /// The entity with all columns that it ever had, each by a name of its own.
    fileprivate var undropped: CatalogEntity {
        var copy = self
        copy.isDropped = false
        var names = UniqueNames(besides: live.map(\.name))
        copy.columns = columns.map { column in
            var column = column
            if column.isDropped { column.name = names.name(ofGone: column.name) }
            column.isDropped = false
            return column
        }
        return copy
    }
}
