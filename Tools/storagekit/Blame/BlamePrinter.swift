import StorageKit

/// Writes where values come from.
final class BlamePrinter {
    /// The options for a row or table.
    struct Request {
        let target: TargetArgument
        /// The position of the state that is explained.
        let position: Int64
        /// The columns to explain; all if empty.
        var columns: [String] = []
        var ignored: [IgnoredCommits] = []
        /// The maximum number of rows of a table; all if nil.
        var limit: Int?
    }

    private let request: Request
    private let store: HistoryReader
    private var position: Int64 { request.position }
    private let output: ResultOutput

    init(_ request: Request, of store: HistoryReader, to output: ResultOutput) {
        self.request = request
        self.store = store
        self.output = output
    }

    private func isIgnored(_ commit: CommitInfo) -> Bool { request.ignored.contains { $0.contains(commit) } }

    /// `at @26 (t:7)`, so that a relative point can be repeated exactly.
    private func heading(_ target: TargetArgument, _ note: String = "") throws -> StyledLine {
        var line = StyledLine(target.description, .heading)
        line.addWord("at ", .dim)
        line.add(try store.pointLine(position, .dim))
        line.add(note, .dim)
        return line
    }

    /// The ids of the requested columns; nil for all.
    private func columns(of entities: [CatalogEntity], _ names: [String]) throws -> Set<UInt32>? {
        guard !names.isEmpty else { return nil }
        for name in names { try EntityNames(store).check(column: name, of: entities) }
        let wanted = entities.flatMap(\.columns).filter { column in
            names.contains { $0.utf8.elementsEqual(column.name.utf8) }
        }
        return Set(wanted.map(\.id))
    }

    // MARK: A row

    func row(_ row: RowTarget) throws -> ExitStatus? {
        let columns = try columns(of: [row.entity], row.column.map { [$0] } ?? request.columns)
        guard
            let cells = try store.log.origins(
                of: row.key, in: row.entity, at: position, columns: columns, ignoring: isIgnored)
        else { throw try missing(row) }
        switch output.format {
        case .human: try write(cells, of: row)
        case .json, .jsonl: for cell in cells { try output.record(BlameCellRecord(row: row, cell: cell)) }
        case .csv, .md:
            try output.titles(["table", "id", "column", "value"] + Self.originTitles)
            let id = KeyText.text(of: row.key, in: row.entity)
            for cell in cells {
                try output.row(
                    [row.entity.name, id, cell.field.column, ValueText.cell(cell.field)]
                        + Self.origin(cell.position, cell.commit))
            }
        }
        try output.finish()
        return nil
    }

    private func write(_ cells: [CellOrigin], of row: RowTarget) throws {
        try output.line(heading(row.target(in: request.target.table)))
        var layout = TableLayout(
            [.init(""), .init(""), .init(""), .init(""), .init(""), .init(""), .init("")], width: output.width)
        for cell in cells {
            layout.add([
                TableCell(cell.field.column, .heading), TableCell(.position(cell.position)),
                TableCell(.commit(cell.commit.number)), TableCell(time(cell.commit.time)),
                TableCell(CommitText.author(cell.commit.metadata)),
                TableCell((cell.isIgnored ? "(ignored) " : "") + CommitText.reason(cell.commit.metadata), .dim),
                TableCell(ValueText.text(cell.field), .added),
            ])
        }
        try output.lines(layout.lines(style: output.style))
    }

    /// The error for a row that doesn't exist at the point, although it does at another one.
    private func missing(_ row: RowTarget) throws -> CommandError {
        let target = row.target(in: request.target.table)
        var last: StorageEvent?
        var first: StorageEvent?
        try store.log.forEachVersion(of: row.key, in: row.entity) { batch, index in
            let event = batch.event(at: index, catalog: store.catalog)
            first = event
            if event.position <= position { last = event }
            return last == nil
        }
        if let last {
            return CommandError(
                .notFound, "\(target) doesn't exist at \(try store.pointText(position)).",
                why: "t:\(last.commit.number) deleted it at @\(last.position).",
                next:
                    "As it was before: storagekit blame --at @\(last.position)~ \([target.description].quotedAsOperands)"
            )
        }
        return CommandError(
            .notFound, "\(target) doesn't exist yet at \(try store.pointText(position)).",
            why: first.map { "Its first event is @\($0.position)." } ?? "",
            next: first.map {
                "As it was then: storagekit blame --at @\($0.position) \([target.description].quotedAsOperands)"
            } ?? "")
    }

    /// The time; on a narrow terminal only the day, so that neither times nor names are truncated.
    private func time(_ microseconds: Int64) -> String {
        output.width.map { $0 < Self.wide } ?? false ? Timestamp.day(microseconds) : Timestamp.shown(microseconds)
    }

    private static let wide = 100

    // MARK: A table

    func table() throws -> ExitStatus? {
        let known = try EntityNames(store).entities(named: request.target.table)
        let then = try Catalog.load(store.connection, at: position)
        let entity = known.first { then.entity(id: $0.id)?.isDropped == false } ?? known[0]
        let columns = try columns(of: [entity], request.columns)
        if output.format == .human {
            try output.line(heading(request.target, ", the last change of each row"))
        }
        if output.format == .csv || output.format == .md {
            try output.titles(["table", "id", "op"] + Self.originTitles)
        }
        // At the head, the table itself gives the number of rows, so the search can stop after that many.
        let isHead = position == store.head.position && !entity.isDropped
        let most = min(request.limit ?? .max, isHead ? try count(entity) : .max)
        var rows = 0
        if most > 0, then.entity(id: entity.id)?.isDropped == false {
            try forEachOrigin(in: entity.id, columns) { event, isIgnored in
                try write(event, isIgnored: isIgnored)
                try output.flushIfDue()
                rows += 1
                return rows < most
            }
        }
        output.needsReader = rows > 0
        if rows == 0, output.format == .human { try output.line("No rows.", .dim) }
        try output.finish()
        return rows == 0 ? .negative : nil
    }

    /// Calls `body` with the event that counts for each row, newest first, until it returns false.
    private func forEachOrigin(
        in entity: UInt32, _ columns: Set<UInt32>?, _ body: (_ event: StorageEvent, _ isIgnored: Bool) throws -> Bool
    ) throws {
        let (log, catalog) = (store.log, store.catalog)
        if columns == nil, request.ignored.isEmpty {
            return try log.forEachLastEvent(of: entity, at: position) { batch, index in
                try body(batch.event(at: index, catalog: catalog), false)
            }
        }
        // The event that counts may be far before a row's last one, so the order isn't known until all rows have been read.
        var (origins, ignored) = (PositionSet(through: position), PositionSet(through: position))
        try log.forEachLastEvent(of: entity, at: position) { batch, index in
            let origin = try log.origin(batch, index, columns: columns, ignoring: isIgnored)
            let eventPosition = origin.batch.header.first + Int64(origin.index)
            origins.insert(eventPosition)
            if origin.isIgnored { ignored.insert(eventPosition) }
            return true
        }
        var batch: EventBatch?
        try origins.forEachDescending { eventPosition in
            if batch.map({ !($0.header.first...$0.header.last ~= eventPosition) }) ?? true {
                batch = try log.batch(containing: eventPosition)
            }
            guard let batch else { throw StorageError.corruptLog("position @\(eventPosition) is missing") }
            let event = batch.event(at: Int(eventPosition - batch.header.first), catalog: catalog)
            return try body(event, ignored.contains(eventPosition))
        }
    }

    private func count(_ entity: CatalogEntity) throws -> Int {
        let select = try PreparedStatement(store.connection, "SELECT count(*) FROM \(quoted(entity.stored))")
        return try select.step() ? Int(select.integer(0)) : 0
    }

    private func write(_ event: StorageEvent, isIgnored: Bool) throws {
        switch output.format {
        case .human:
            var line = event.headline(showsTarget: true)
            if isIgnored { line.addWord("(ignored)", .dim) }
            try output.line(line)
        case .json, .jsonl:
            try output.record(BlameRowRecord(event: event, isIgnored: isIgnored))
        case .csv, .md:
            try output.row(
                [event.table, event.id, event.operation.rawValue] + Self.origin(event.position, event.commit))
        }
    }

    // MARK: Origins

    private static let originTitles = ["position", "commit", "time", "actor", "app", "reason"]

    private static func origin(_ position: Int64, _ commit: CommitInfo) -> [String?] {
        let metadata = commit.metadata
        return [
            "\(position)", "\(commit.number)", Timestamp.text(commit.time), metadata.actor, metadata.app,
            metadata.reason,
        ]
    }

}
