import ArgumentParser
import StorageLog
import StorageProjections

/// `storagekit rebuild`: makes tables again from the log.
struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Make tables again from the log.",
        discussion: """
            Everything happens in one transaction: an interrupted rebuild leaves the store as it was. With --compare \
            nothing is changed, and the command ends with status 1 if the tables aren't what the log says.

              storagekit rebuild -s app.sqlite --compare
              storagekit rebuild -s app.sqlite users orders
            """)

    @Argument(help: "The tables; all if none is named.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Only compare the tables with the log, and show where they differ.")
    var compare = false

    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "rebuild")
        let command = self
        let path = try store.path()
        // Opening for writing would make a new store where the name is wrong.
        try await store.openForReading().close()
        let engine = try StorageEngine.openStore(path: path, configuration: StorageConfiguration())
        let started = ContinuousClock.now
        do {
            let outcome = try await engine.withWriter { writer, db in
                let entities = try command.entities(writer.catalog)
                var bar: ProgressBar?
                defer { bar?.finish() }
                let rebuilder = Rebuilder(writer, db) { position, head in
                    let shown = bar ?? ProgressBar("rebuild", total: Int(head), unit: "events")
                    bar = shown
                    shown.update(Int(position))
                }
                return try rebuilder.run(entities, mode: command.compare ? .compare : .swap)
            }
            try await engine.close()
            try write(outcome, took: ContinuousClock.now - started)
            if compare, !outcome.differences.isEmpty { throw ExitStatus.negative }
        } catch {
            // Nothing was changed; closing tidies up and its own failure would hide why.
            try? await engine.close()
            throw error
        }
    }

    private func entities(_ catalog: Catalog) throws -> [CatalogEntity] {
        let names = EntityNames(catalog: catalog)
        return try tables.map { name in
            let found = try names.users(named: name)
            guard let live = found.first(where: { !$0.isDropped }) else {
                throw CommandError(
                    .notFound, "There is no table \"\(name)\" to rebuild.",
                    why: "It was dropped, or isn't an entity's.",
                    next: "Its history is still there. Type: storagekit log \(TargetArgument(table: name))")
            }
            return live
        }
    }

    private func write(_ outcome: Rebuilder.Outcome, took: Duration) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(outcome, took: took, to: output)
        } else {
            try output.document { Self.write(outcome, isCompared: compare, to: &$0) }
        }
        try output.flush()
    }

    private func writeText(_ outcome: Rebuilder.Outcome, took: Duration, to output: ResultOutput) throws {
        let grouped = ProgressBar.grouped
        var table = TableLayout([.init("table"), .init("rows", .right)], width: output.width)
        for (name, rows) in outcome.rows.sorted(by: { $0.key < $1.key }) {
            table.add([TableCell(name), TableCell(grouped(rows))])
        }
        if !outcome.rows.isEmpty { try output.lines(table.lines(style: output.style)) }
        for (name, difference) in outcome.differences {
            try output.line("! \(TargetArgument(table: name)): \(difference.text)", .removed)
        }
        let isSame = outcome.differences.isEmpty
        let verdict =
            compare
            ? isSame ? "The tables are what the log says." : "The tables aren't what the log says." : "Rebuilt."
        try output.line(verdict, isSame ? .added : .removed)
        try output.line("\(grouped(outcome.events)) events in \(Age.text(microseconds: took.microseconds))", .dim)
    }

    private static func write(_ outcome: Rebuilder.Outcome, isCompared: Bool, to json: inout JSONWriter) {
        json.key("ok")
        json.bool(outcome.differences.isEmpty)
        json.key("compared")
        json.bool(isCompared)
        json.key("events")
        json.integer(Int64(outcome.events))
        json.key("rows")
        json.beginObject()
        for (name, rows) in outcome.rows.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.integer(Int64(rows))
        }
        json.endObject()
        guard isCompared else { return }
        json.key("differences")
        json.beginArray()
        for (name, difference) in outcome.differences {
            let (kind, id, column) = difference.parts
            json.beginObject()
            json.key("table")
            json.text(name)
            json.key("id")
            json.text(id)
            json.key("kind")
            json.text(kind)
            json.key("column")
            column.map { json.text($0) } ?? json.null()
            json.endObject()
        }
        json.endArray()
    }
}

extension RowComparison.Difference {
    fileprivate var parts: (kind: String, id: String, column: String?) {
        switch self {
        case .missing(let key): ("missing", key, nil)
        case .extra(let key): ("extra", key, nil)
        case .different(let key, let column): ("different", key, column)
        }
    }

    fileprivate var text: String {
        switch self {
        case .missing(let key): "row \(key) is missing"
        case .extra(let key): "row \(key) isn't in the log"
        case .different(let key, let column): "row \(key) differs in \(column)"
        }
    }
}
