import ArgumentParser
import StorageLog
import StorageProjections

/// `storagekit rebuild`: makes tables again from the log.
struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Make tables again from the log.",
        discussion: """
            New tables are made beside the old ones and take their places in one transaction: a table is the old one or \
            the new one, whatever interrupts the rebuild. One that was interrupted is taken up where it stood; with \
            --abandon what it had made is thrown away.

            With --compare nothing is changed: the command tells where the tables aren't what the log says, and ends \
            with status 1 if they aren't. While an app has the store open, `storagekit verify` tells the same.

              storagekit rebuild -s app.sqlite --compare
              storagekit rebuild -s app.sqlite users orders
              storagekit rebuild -s app.sqlite --compare --swap --keep
            """)

    @Argument(help: "The tables; all if none is named.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Compare the tables with the log, and show where they differ; change nothing.")
    var compare = false

    @Flag(name: .long, help: "With --compare: put the new tables in the place of the old ones nevertheless.")
    var swap = false

    @Flag(name: .long, help: "Keep what the old tables held, as tables that the answer names.")
    var keep = false

    @Flag(name: .long, help: "Only show which tables would be made, and from how much.")
    var dryRun = false

    @Flag(name: .long, help: "Throw away what an interrupted rebuild has made, and tables that were kept.")
    var abandon = false

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if abandon, compare || swap || keep || dryRun || !tables.isEmpty {
            throw ValidationError("--abandon stands alone: it throws away every unfinished and every kept table.")
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "rebuild")
        let path = try store.path()
        // Opening for writing would make a new store where the name is wrong.
        let (names, plan) = try await store.read { store in
            let names = try entities(store.catalog)
            return (names, try RebuildPlan(names, store.connection))
        }
        if dryRun { return try write(plan) }
        let engine = try StorageEngine.openStore(path: path, configuration: StorageConfiguration())
        let started = ContinuousClock.now
        do {
            guard !abandon else {
                try await Rebuild.abandon(engine)
                try await engine.close()
                return try writeAbandoned()
            }
            let bar = StageProgress { _ in "events" }
            let options = RebuildOptions(compares: compare, swaps: swap || keep || !compare, keepsOld: keep)
            let rebuild = Rebuild(engine, names, options: options) { progress in
                // While tables change places there is nothing to count.
                guard progress.phase == .reading else { return bar.finish() }
                bar.update("rebuild", Int(progress.completed), Int(progress.total))
            }
            let report: RebuildReport
            do {
                defer { bar.finish() }
                report = try await rebuild.run()
            }
            try await engine.close()
            try write(report, took: ContinuousClock.now - started)
            if !report.isSwapped, !report.differences.isEmpty { throw ExitStatus.negative }
        } catch {
            // Closing tidies up; its own failure would hide why.
            try? await engine.close()
            throw error
        }
    }

    private func entities(_ catalog: Catalog) throws -> [String] {
        let names = EntityNames(catalog: catalog)
        return try tables.map { name in
            let found = try names.users(named: name)
            guard let live = found.first(where: { !$0.isDropped }) else {
                throw CommandError(
                    .notFound, "There is no table \"\(name)\" to rebuild.",
                    why: "It was dropped, or isn't an entity's.",
                    next: "Its history is still there. Type: storagekit log \(TargetArgument(table: name))")
            }
            return live.name
        }
    }

    private func write(_ plan: RebuildPlan) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            var table = TableLayout(
                [.init("table"), .init("rows now", .right), .init("from", .right)], width: output.width)
            for made in plan.tables {
                table.add([
                    TableCell(made.name), TableCell(ProgressBar.grouped(Int(made.rows))),
                    TableCell(made.resumesAt > 0 ? "@\(made.resumesAt)" : "@1"),
                ])
            }
            if !plan.tables.isEmpty { try output.lines(table.lines(style: output.style)) }
            try output.line("They would be made from the log up to @\(plan.head). Nothing was changed.")
        } else {
            try output.document { json in
                json.key("dry_run")
                json.bool(true)
                json.key("position")
                json.integer(plan.head)
                json.key("tables")
                json.beginArray()
                for made in plan.tables {
                    json.beginObject()
                    json.key("table")
                    json.text(made.name)
                    json.key("rows")
                    json.integer(made.rows)
                    json.key("resumed")
                    json.integer(made.resumesAt)
                    json.endObject()
                }
                json.endArray()
            }
        }
        try output.flush()
    }

    private func writeAbandoned() throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try output.line("Nothing is left of interrupted rebuilds, and no table is kept.")
        } else {
            try output.document { json in
                json.key("ok")
                json.bool(true)
            }
        }
        try output.flush()
    }

    private func write(_ report: RebuildReport, took: Duration) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            try writeText(report, took: took, to: output)
        } else {
            try output.document { Self.write(report, isCompared: compare, to: &$0) }
        }
        try output.flush()
    }

    private func writeText(_ report: RebuildReport, took: Duration, to output: ResultOutput) throws {
        let grouped = ProgressBar.grouped
        var table = TableLayout([.init("table"), .init("rows", .right)], width: output.width)
        for (name, rows) in report.rows.sorted(by: { $0.key < $1.key }) {
            table.add([TableCell(name), TableCell(grouped(rows))])
        }
        if !report.rows.isEmpty { try output.lines(table.lines(style: output.style)) }
        for difference in report.differences { try output.line("! \(Self.text(difference))", .removed) }
        for (name, kept) in report.kept.sorted(by: { $0.key < $1.key }) {
            try output.line("The old \(TargetArgument(table: name)) is kept as \(kept).")
        }
        try output.line(verdict(report), report.isSwapped || report.differences.isEmpty ? .added : .removed)
        let resumed = report.resumedAt > 0 ? ", from @\(report.resumedAt) where it was interrupted" : ""
        let events = ProgressBar.grouped(Int(report.position))
        try output.line("\(events) events in \(Age.text(microseconds: took.microseconds))\(resumed)", .dim)
    }

    private func verdict(_ report: RebuildReport) -> String {
        guard compare else { return "Rebuilt." }
        switch (report.differences.isEmpty, report.isSwapped) {
        case (true, false): return "The tables are what the log says."
        case (true, true): return "The tables were what the log says. Rebuilt."
        case (false, false): return "The tables aren't what the log says."
        case (false, true): return "The tables weren't what the log says. Rebuilt."
        }
    }

    private static func text(_ difference: RebuildReport.Difference) -> String {
        let table = TargetArgument(table: difference.table)
        switch difference.kind {
        case .missing: return "\(table): row \(difference.id) is missing"
        case .extra: return "\(table): row \(difference.id) isn't in the log"
        case .different: return "\(table): row \(difference.id) differs in \(difference.column ?? "")"
        }
    }

    private static func write(_ report: RebuildReport, isCompared: Bool, to json: inout JSONWriter) {
        json.key("ok")
        json.bool(report.differences.isEmpty)
        json.key("compared")
        json.bool(isCompared)
        json.key("swapped")
        json.bool(report.isSwapped)
        json.key("position")
        json.integer(report.position)
        json.key("resumed")
        json.integer(report.resumedAt)
        json.key("rows")
        json.beginObject()
        for (name, rows) in report.rows.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.integer(Int64(rows))
        }
        json.endObject()
        json.key("kept")
        json.beginObject()
        for (name, kept) in report.kept.sorted(by: { $0.key < $1.key }) {
            json.key(name)
            json.text(kept)
        }
        json.endObject()
        guard isCompared else { return }
        json.key("differences")
        json.beginArray()
        for difference in report.differences {
            json.beginObject()
            json.key("table")
            json.text(difference.table)
            json.key("id")
            json.text(difference.id)
            json.key("kind")
            json.text(difference.kind.rawValue)
            json.key("column")
            difference.column.map { json.text($0) } ?? json.null()
            json.endObject()
        }
        json.endArray()
    }
}
