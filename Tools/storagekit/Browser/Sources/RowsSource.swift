import GRDB
import StorageKit

/// The rows of a table at a point, in the order of their keys. The table is created once, and kept.
final class RowsSource: PageSource {
    private struct Reading: Sendable {
        let snapshot: MaterializedSnapshot
        let entity: CatalogEntity
        let count: Int64
    }

    private let table: String
    private let point: PointArgument
    private let reading = LazyValue<Reading>()

    /// The maximum length of a value that is shown.
    private static let valueLimit = 500

    init(_ table: String, at point: PointArgument) {
        self.table = table
        self.point = point
    }

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        let reading = try self.reading.use(making: { try makeReading(store) }) { $0 }
        let numbers = page.numbers(of: reading.count)
        try reading.snapshot.read(from: store.database) { past in
            let connection = try past.connection
            let key = reading.entity.key.map { quoted($0.stored) }
            let order = page.isBackward ? key.map { "\($0) DESC" } : key
            let select =
                "SELECT * FROM \(quoted(reading.entity.stored))"
                + (order.isEmpty ? "" : " ORDER BY \(order.joined(separator: ", "))") + " LIMIT -1 OFFSET ?"
            let statement = try PreparedStatement(connection, select)
            var iterator = numbers.makeIterator()
            guard let first = iterator.next() else { return }
            statement.bind(page.isBackward ? reading.count - 1 - first : first, at: 1)
            let result = QueryResult(statement, catalog: reading.snapshot.catalog, sql: "")
            writer.titles(result.columns.map { TableCell($0, .heading) })
            for number in numbers {
                guard let row = try result.next() else { return }
                if try !writer.add(item(row, number: number, of: reading.entity)) { return }
            }
        }
    }

    private func makeReading(_ store: HistoryReader) throws -> Reading {
        let snapshot = try MaterializedSnapshot(
            at: store.position(of: point), of: store.database, schema: .asRecorded)
        let names = EntityNames(store)
        // The table may have had another name at that point.
        let known = try names.users(named: table)
        guard
            let entity = snapshot.catalog.live.first(where: { $0.name.utf8.elementsEqual(table.utf8) })
                ?? known.lazy.compactMap({ known in snapshot.catalog.live.first { $0.id == known.id } }).first
        else {
            throw CommandError(
                .notFound, "There is no table \"\(table)\" at \(point).",
                why: "It was created later, or dropped before.",
                next: "T lists the tables.")
        }
        let count = try snapshot.read([entity.name], from: store.database) { past in
            try Int64.fetchOne(past, sql: "SELECT count(*) FROM \(quoted(entity.stored))") ?? 0
        }
        return Reading(snapshot: snapshot, entity: entity, count: count)
    }

    private func item(_ row: [StorageEvent.Field], number: Int64, of entity: CatalogEntity) -> ScreenItem {
        let cells = row.map { field in
            TableCell(String(ValueText.text(field).prefix(Self.valueLimit)), field.value == .null ? .dim : .plain)
        }
        let key = entity.key.compactMap { column in row.first { $0.column.folded == column.stored.folded } }
        let target = key.isEmpty ? nil : TargetArgument(table: entity.name, id: KeyText.text(of: key))
        let line = ScreenLine(
            cells: cells, opens: target.map { .history($0) }, subject: LineSubject(row: target, table: entity.name))
        return ScreenItem(at: number...number, [line])
    }
}
