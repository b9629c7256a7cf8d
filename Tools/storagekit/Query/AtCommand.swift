import ArgumentParser
import GRDB
import StorageKit

/// `storagekit at`: SQL on past states.
struct AtCommand: AsyncParsableCommand, FormattedPagedCommand {
    static let configuration = CommandConfiguration(
        commandName: "at", abstract: "Query the tables as of a point.",
        discussion: """
            Reconstructs the tables that the query names in a temporary database, with their full-text indexes and \
            the current views. A table's name alone stands for all of its rows. Without a query, lists the recorded \
            tables and their row counts.

              storagekit at -s app.sqlite yesterday users
              storagekit at -s app.sqlite -2h "SELECT * FROM users WHERE name LIKE 'A%'"
              storagekit at -s app.sqlite t:77 "SELECT count(*) FROM users" --each t:1,t:40,head
              storagekit at -s app.sqlite yesterday "SELECT id, price FROM items" --diff-with head

            --diff-with compares the two results by their first column, or by the columns of --key, and exits with \
            status 1 if they differ.
            """)

    @Argument(
        help: "The point: @1234, t:77, a time, -2h, head~5.", transform: { try PointArgument($0, now: SystemTime.now) })
    var point: PointArgument

    @Argument(help: "One SELECT, or a table.")
    var sql: String?

    @OptionGroup var store: StoreOption

    @Option(help: "More points to run the query at, separated by commas.")
    var each: PointList?

    @Option(
        help: "Show how the result differs at another point.",
        transform: { try PointArgument($0, now: SystemTime.now) })
    var diffWith: PointArgument?

    @Option(help: "The columns that identify a row of the result, separated by commas.")
    var key: String?

    @Option(help: "Which schema to use: as recorded at that point, or the current one.")
    var schema: SchemaChoice = .asRecorded

    @OptionGroup var rows: RowOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var pager: PagerOption

    func validate() throws {
        if each != nil, diffWith != nil { throw ValidationError("--each and --diff-with can't be combined.") }
        if sql == nil, each != nil || diffWith != nil || key != nil {
            throw ValidationError("--each, --diff-with and --key require a query.")
        }
        if key != nil, diffWith == nil { throw ValidationError("--key requires --diff-with.") }
    }

    func run() async throws {
        try rows.check(format.format)
        let command = self
        let status = try await store.read { try SnapshotQueries(command, $0).run() }
        if let status { throw status }
    }
}

enum SchemaChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case asRecorded = "as-recorded"
    case current

    var schema: SnapshotSchema { self == .asRecorded ? .asRecorded : .current }
}

/// Points separated by commas.
struct PointList: ExpressibleByArgument, Sendable {
    let points: [(text: String, point: PointArgument)]

    init?(argument: String) {
        var points: [(String, PointArgument)] = []
        for text in argument.split(separator: ",").map(String.init) {
            guard let point = try? PointArgument(text, now: SystemTime.now) else { return nil }
            points.append((text, point))
        }
        if points.isEmpty { return nil }
        self.points = points
    }
}

private final class SnapshotQueries {
    private let command: AtCommand
    private let store: HistoryReader
    private let output: ResultOutput

    init(_ command: AtCommand, _ store: HistoryReader) {
        self.command = command
        self.store = store
        output = ResultOutput(command.format, isTruncated: !command.rows.noTruncate)
    }

    func run() throws -> ExitStatus? {
        guard let words = command.sql else { return try list() }
        let sql = try query(words)
        defer { ComparisonHint.find(in: sql, store.catalog)?.write() }
        if let other = command.diffWith { return try compare(sql, at: command.point, with: other) }
        let printer = QueryPrinter(output, command.rows.display)
        guard let each = command.each else {
            try writeHeading(command.point)
            try forEachRow(of: sql, at: command.point, begin: { printer.expect($0) }) { try printer.write($0) }
            try printer.finish()
            return nil
        }
        for (text, point) in [("\(command.point)", command.point)] + each.points {
            do {
                try forEachRow(of: sql, at: point, besides: ["point"], begin: { printer.expect($0, prefix: ["point"]) })
                {
                    try printer.write($0, prefix: [("point", text)])
                }
            } catch {
                if error is BrokenPipe { throw error }
                try printer.finish()
                let error = CommandError(wrapping: error)
                throw CommandError(error.status, "At \(text): \(error.what)", why: error.why, next: error.next)
            }
        }
        try printer.finish()
        return nil
    }

    /// A single word is a table's name, which selects all of its rows. No query is a single word.
    private func query(_ words: String) throws -> String {
        let isWord = !words.contains { $0.isWhitespace || $0 == ";" || $0 == "(" }
        let names = store.catalog.entities.filter { !$0.isReserved }
        if let entity = names.first(where: { $0.name.utf8.elementsEqual(words.utf8) })
            ?? names.first(where: { $0.stored.utf8.elementsEqual(words.utf8) })
        {
            return "SELECT * FROM \(quoted(entity.stored))"
        }
        // The same error as other commands for a table that doesn't exist.
        if isWord || isMisspelled(words, among: names.map(\.name)) { _ = try EntityNames(store).users(named: words) }
        return words
    }

    /// Returns whether several words are a table's name with a typing error, and no query.
    private func isMisspelled(_ words: String, among names: [String]) -> Bool {
        let isQuery = ["select", "with", "values"].contains { words.lowercased().hasPrefix($0) }
        return !isQuery && !Suggestions.nearest(to: words, among: names).isEmpty
    }

    private func state(_ point: PointArgument) throws -> MaterializedSnapshot {
        try MaterializedSnapshot(at: store.position(of: point), of: store.database, schema: command.schema.schema)
    }

    /// Writes for people which state they see, so that a relative point can be repeated exactly.
    private func writeHeading(_ points: PointArgument...) throws {
        guard output.format == .human else { return }
        var line = StyledLine("at ", .dim)
        for (index, point) in points.enumerated() {
            if index > 0 { line.add(", compared with ", .dim) }
            let position = try store.position(of: point)
            line.add(try store.pointLine(position, .dim))
            guard position == 0, let first = try store.index.commit(1)?.info else { continue }
            line.add(", before the first commit, ", .dim)
            line.add(.commit(first.number), .dim)
            line.add(" (\(Timestamp.shown(first.time)))", .dim)
        }
        try output.line(line)
    }

    private func forEachRow(
        of sql: String, at point: PointArgument, besides others: [String] = [], begin: ([String]) -> Void = { _ in },
        _ body: ([StorageEvent.Field]) throws -> Void
    ) throws {
        let state = try state(point)
        let views = try MaterializedSnapshot.views(of: store.database)
        let tables = try tables(of: sql, in: state, at: point, views)
        // Views after the tables, which take precedence if both have the same name.
        try state.prepare(tables: tables.names, searching: tables.searched, from: store.database)
        try state.add(views: views)
        try state.read(from: store.database) { past in
            let connection = try past.connection
            let result = QueryResult(
                try PreparedStatement(connection, sql), catalog: state.catalog, sql: sql, besides: others)
            begin(result.columns)
            while let row = try result.next() { try body(row) }
        }
    }

    private func tables(
        of sql: String, in state: MaterializedSnapshot, at point: PointArgument, _ views: [SchemaStatement]
    ) throws -> ReferencedTables {
        do {
            return try ReferencedTables(
                of: sql, in: state.catalog, indexes: FullTextIndex.load(store.connection), views: views)
        } catch let error as StorageError {
            if let error = CommandError(unreadable: sql, error) { throw error }
            guard let name = error.missingTable else {
                throw CommandError(missingIn: sql, error, catalog: state.catalog) ?? CommandError(error)
            }
            if try HistoryTableInstaller(store.connection).names.contains(where: { $0.folded == name.folded }) {
                throw CommandError(
                    .notFound, "There is no table \"\(name)\" as of a point.",
                    why: "It is the history itself, which sql queries; bound it there by _position or _time.",
                    next: "Type: storagekit sql \(ShellWords.quotedLine(sql) ?? "\"SELECT …\"")")
            }
            if command.schema == .asRecorded,
                let later = try CommandError(
                    laterTable: name, than: state.position, recorded: state.catalog, at: point, in: store)
            {
                throw later
            }
            throw CommandError(
                missingTable: name, among: state.catalog.live.map(\.stored),
                next: command.schema == .asRecorded ? "For the current schema add --schema current." : "")
        }
    }

    /// Lists the tables as of the point.
    private func list() throws -> ExitStatus? {
        try writeHeading(command.point)
        let state = try state(command.point)
        let printer = QueryPrinter(output, command.rows.display)
        let entities = state.catalog.live
        try state.prepare(tables: entities.map(\.name), from: store.database)
        for entity in entities {
            let count = try state.read(from: store.database) { past in
                try Int64.fetchOne(past, sql: "SELECT count(*) FROM \(quoted(entity.stored))") ?? 0
            }
            try printer.write([
                // The table's name in SQL.
                StorageEvent.Field(column: "table", value: .text(entity.stored)),
                StorageEvent.Field(column: "rows", value: .integer(count)),
            ])
        }
        try printer.finish()
        return nil
    }
}

// MARK: Comparing

extension SnapshotQueries {
    /// Writes how the answer at one point differs from that at another. The first answer is kept in a temporary table.
    private func compare(_ sql: String, at one: PointArgument, with other: PointArgument) throws -> ExitStatus? {
        output.needsReader = false
        try writeHeading(one, other)
        let before = try ResultBuffer(keyNames: command.key?.split(separator: ",").map(String.init))
        try forEachRow(of: sql, at: one, besides: ["change"]) { try before.add($0) }
        let printer = QueryPrinter(output, command.rows.display)
        func write(_ row: [StorageEvent.Field], as change: String, _ role: Style.Role) throws {
            try printer.write(row, prefix: [("change", change)], role: role)
        }
        try forEachRow(of: sql, at: other, besides: ["change"]) { row in
            switch try before.take(row) {
            case .equal: break
            case .missing: try write(row, as: "+", .added)
            case .other(let old):
                try write(old, as: "<", .removed)
                try write(row, as: ">", .added)
            }
        }
        try before.forEachLeft { try write($0, as: "-", .removed) }
        try printer.finish()
        return printer.rows == 0 ? nil : .negative
    }
}
