import GRDB
import StorageKit

/// The tables at a point and their numbers of rows, as `at` lists them.
struct TablesSource: PageSource {
    let point: PointArgument

    func read(_ page: LinePage, in store: HistoryReader, to writer: PageWriter) throws {
        let state = try MaterializedSnapshot(
            at: store.position(of: point), of: store.database, schema: .asRecorded)
        let tables = state.catalog.live
        for number in page.numbers(of: Int64(tables.count)) {
            let entity = tables[Int(number)]
            let count = try state.read([entity.name], from: store.database) { past in
                try Int64.fetchOne(past, sql: "SELECT count(*) FROM \(quoted(entity.stored))") ?? 0
            }
            var line = StyledLine(entity.name, .heading)
            line.addWord(NumberText.count(count, "row"))
            let opens = Location.rows(table: entity.name, at: point)
            let item = ScreenLine(line, opens: opens, subject: LineSubject(table: entity.name))
            if try !writer.add(ScreenItem(at: number...number, [item])) { return }
        }
    }
}
