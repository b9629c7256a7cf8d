import CSQLite
import Foundation
import StorageKit

/// The numbers of a store.
struct StoreStats {
    private struct Entity {
        var events = CommitSummary.Counts()
        var rows: Int64 = 0
        var isDropped = true
    }

    private let head: LogHead
    private var sealed: Int64 = 0
    private var unsealed: Int64 = 0
    private var rawBytes: Int64 = 0
    /// Includes the tombstones, with which the log finds deleted rows.
    private var logBytes: Int64 = 0
    private let fileBytes: Int64
    private let walBytes: Int64
    private var schemaEvents = CommitSummary.Counts()
    /// Events of tags and notes.
    private var tagEvents = CommitSummary.Counts()
    private var operationEvents = CommitSummary.Counts()
    private var entities: [ExactText: Entity] = [:]

    /// - Parameter progress: Called with the position that was reached.
    init(_ store: HistoryReader, path: String, progress: (Int64) -> Void) throws {
        head = store.head
        fileBytes = Self.size(of: path)
        walBytes = Self.size(of: path + "-wal")
        let log = try PreparedStatement(
            store.connection, "SELECT coalesce(sum(sealed != 0), 0), count(*), coalesce(sum(size), 0) FROM storage_log")
        if try log.step() {
            sealed = log.integer(0)
            unsealed = log.integer(1) - sealed
            rawBytes = log.integer(2)
        }
        let pages = try PreparedStatement(
            store.connection,
            """
            SELECT coalesce(sum(pgsize), 0) FROM temp.dbstat
            WHERE name IN ('storage_log', 'storage_tombstone') AND aggregate = TRUE
            """)
        if try pages.step() { logBytes = pages.integer(0) }
        try countEvents(store, progress)
        for entity in store.catalog.live {
            let rows = try PreparedStatement(store.connection, "SELECT count(*) FROM \(quoted(entity.stored))")
            guard try rows.step() else { continue }
            entities[ExactText(entity.name), default: Entity()].rows += rows.integer(0)
            entities[ExactText(entity.name)]?.isDropped = false
        }
    }

    private mutating func countEvents(_ store: HistoryReader, _ progress: (Int64) -> Void) throws {
        guard head.position > 0 else { return }
        var counts: [UInt32: CommitSummary.Counts] = [:]
        try store.log.forEachBatch(in: 1...head.position) { batch in
            batch.withView { view in
                // All events of a shape have the same table and operation, so events are counted by shape.
                var ofShape = [Int](repeating: 0, count: view.shapeCount)
                for index in 0..<view.count { ofShape[Int(view.events[index].shape)] += 1 }
                for (index, count) in ofShape.enumerated() where count > 0 {
                    let shape = view.shapes[index]
                    counts[shape.entity, default: .init()].add(StorageEvent.Operation(shape), count: count)
                }
            }
            progress(batch.header.last)
            return true
        }
        for (id, counts) in counts {
            if id == CatalogEntity.catalog.id {
                schemaEvents = counts
            } else if id == CatalogEntity.operation.id {
                operationEvents = counts
            } else if CatalogEntity.isReserved(id) {
                tagEvents.add(counts)
            } else {
                let name = ExactText(store.catalog.entity(id: id)?.name ?? "entity \(id)")
                entities[name, default: Entity()].events.add(counts)
            }
        }
    }

    private static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}

extension StoreStats {
    var record: StatsRecord {
        StatsRecord(
            events: head.position, commits: head.commit, segments: sealed, tailRows: unsealed, logBytes: logBytes,
            rawBytes: rawBytes, fileBytes: fileBytes, walBytes: walBytes, schemaEvents: schemaEvents.total,
            tagEvents: tagEvents.total, operationEvents: operationEvents.total,
            tables: sorted.map { name, entity in
                (name, StatsRecord.Table(rows: entity.rows, counts: entity.events, isDropped: entity.isDropped))
            })
    }

    private var sorted: [(String, Entity)] {
        entities.map { ($0.key.text, $0.value) }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }

    func lines(style: Style, width: Int?) -> [String] {
        var summary = TableLayout([.init(""), .init("", .right), .init("")], width: width)
        let perEvent = head.position > 0 ? Double(logBytes) / Double(head.position) : 0
        for (name, number, note) in [
            ("events", head.position, "@1..@\(head.position)"), ("commits", head.commit, "t:1..t:\(head.commit)"),
            ("segments", sealed, "sealed; rows of the tail: \(unsealed)"),
            ("log", logBytes, "bytes in the file, " + String(format: "%.1f", perEvent) + " for each event"),
            ("raw", rawBytes, "bytes of events before compression"),
            ("file", fileBytes, "bytes, and \(NumberText.grouped(Int(walBytes))) in the write-ahead log"),
        ] {
            let isEmpty = head.position == 0 && (name == "events" || name == "commits")
            summary.add([
                TableCell(name, .dim), TableCell(NumberText.grouped(Int(number))),
                TableCell(isEmpty ? "" : note, .dim),
            ])
        }
        guard !entities.isEmpty else { return summary.lines(style: style) }
        var table = TableLayout(
            [
                .init("table"), .init("rows", .right), .init("events", .right), .init("inserts", .right),
                .init("updates", .right), .init("deletes", .right),
            ], width: width)
        for (name, entity) in sorted {
            let numbers = [
                Int(entity.rows), entity.events.total, entity.events.insert, entity.events.update, entity.events.delete,
            ]
            table.add(
                [TableCell(entity.isDropped ? "\(name) (dropped)" : name)]
                    + numbers.map { TableCell(NumberText.grouped($0)) })
        }
        return summary.lines(style: style) + [""] + table.lines(style: style)
    }
}
