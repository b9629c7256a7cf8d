import ArgumentParser
import StorageKit

/// `storagekit rebuild`: rebuilds tables from the log.
struct RebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Rebuild tables from the log.",
        discussion: """
            Builds new tables beside the old ones and swaps them in one transaction, so an interrupted rebuild leaves \
            the old tables. The next rebuild resumes an interrupted one, unless it was still sorting the rows of a \
            long log; --abandon discards it.

            --compare changes nothing: it reports rows that differ from the log, and exits with status 1 if there are \
            any. While a program has the store open, use storagekit verify instead.

            Completed rebuilds are recorded: storagekit log --table storage_operation -p

              storagekit rebuild -s app.sqlite --compare
              storagekit rebuild -s app.sqlite users orders
              storagekit rebuild -s app.sqlite --compare --swap --keep
            """)

    @Argument(help: "Tables to rebuild. Default: all.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Compare the tables with the log; change nothing.")
    var compare = false

    @Flag(name: .long, help: "With --compare: swap in the new tables as well.")
    var swap = false

    @Flag(name: .long, help: "Keep copies of the old tables.")
    var keep = false

    @Flag(name: .long, help: "Discard interrupted rebuilds and kept tables.")
    var abandon = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if abandon, compare || swap || keep || !tables.isEmpty {
            throw ValidationError("--abandon can't be combined: it discards all unfinished and all kept tables.")
        }
        if compare, !swap, !keep, change.dryRun {
            throw ValidationError("--compare changes nothing: omit --dry-run.")
        }
        if swap, !compare { throw ValidationError("--swap requires --compare; without it a rebuild always swaps.") }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "rebuild")
        if abandon { return try await runAbandoning() }
        let (names, plan) = try await store.read { store in
            let names = try entities(store.catalog)
            if compare { try ForeignSchemaChange.check(of: names, store.catalog, in: store.connection) }
            return (names, try RebuildPlan(names, store.connection))
        }
        if change.dryRun { return try write(plan) }
        let started = ContinuousClock.now
        let (report, recorded) = try await store.write(isDryRun: false, repairs: true) { storage in
            let bar = StageProgress { _ in "events" }
            let options = RebuildOptions(compares: compare, swaps: swap || keep || !compare, keepsOld: keep)
            let rebuild = Rebuild(storage.engine, names, options: options) { progress in
                // While tables are swapped there is no progress to show.
                guard progress.phase == .reading else { return bar.finish() }
                bar.update("rebuild", done: Int(progress.completed), of: Int(progress.total))
            }
            let report: RebuildReport
            do {
                defer { bar.finish() }
                report = try await rebuild.run()
            }
            return (report, try await record(report, in: storage))
        }
        let duration = ContinuousClock.now - started
        try OutputFailure.reporting(commit: recorded) { try write(report, recorded, took: duration) }
        if !report.isSwapped, !report.differences.isEmpty { throw ExitStatus.negative }
    }

    /// Records a rebuild; nil if tables were only compared or there were none, so that nothing was changed.
    private func record(_ report: RebuildReport, in storage: Storage) async throws -> Int64? {
        guard report.isSwapped, !report.rows.isEmpty else { return nil }
        let subject = tables.isEmpty ? nil : report.rows.keys.sorted().joined(separator: ", ")
        let operation = try StorageOperation(
            "rebuild", subject: subject, outcome: RebuildOutcome(report: report, isCompared: compare))
        return try await storage.engine.record(operation, metadata: change.metadata).commit
    }

    private func runAbandoning() async throws {
        let leftovers = try await store.read { try RebuildLeftovers($0.connection) }
        if change.dryRun || leftovers.isEmpty { return try writeAbandoned(leftovers, recorded: nil) }
        if !leftovers.kept.isEmpty {
            let kept = leftovers.kept.map { TargetArgument(table: $0).description }.joined(separator: ", ")
            try change.confirmIfAttended("Discard the kept copies of \(kept). Continue?")
        }
        let receipt = try await store.write(isDryRun: false, repairs: true) { storage in
            try await storage.abandonRebuild()
            let operation = try StorageOperation(
                "rebuild --abandon", outcome: LeftoversRecord(leftovers: leftovers))
            return try await storage.engine.record(operation, metadata: change.metadata)
        }
        try OutputFailure.reporting(commit: receipt.commit) {
            try writeAbandoned(leftovers, recorded: receipt.commit)
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
                    next:
                        "Its history is still there. Type: storagekit log \([TargetArgument(table: name).description].quotedAsOperands)"
                )
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
                    TableCell(made.name), TableCell(NumberText.grouped(Int(made.rows))),
                    TableCell(made.resumesAt > 0 ? "@\(made.resumesAt)" : "@1"),
                ])
            }
            if !plan.tables.isEmpty { try output.lines(table.lines(style: output.style)) }
            try output.line("They would be rebuilt from the log up to @\(plan.head). Nothing was changed.")
        } else {
            try output.document(RebuildPlanRecord(plan: plan))
        }
        try output.flush()
    }

    private func writeAbandoned(_ leftovers: RebuildLeftovers, recorded: Int64?) throws {
        let output = ResultOutput(format)
        if output.format == .human {
            let verb = change.dryRun ? "Would be discarded" : "Discarded"
            for (kind, tables) in [("an unfinished", leftovers.unfinished), ("the kept", leftovers.kept)] {
                for table in tables { try output.line("\(verb): \(kind) \(TargetArgument(table: table))") }
            }
            for name in leftovers.projections { try output.line("\(verb): an unfinished projection \(name)") }
            try output.line(
                change.dryRun
                    ? "Nothing was changed." : "No interrupted rebuilds and no kept tables are left.")
        } else {
            try output.document(
                AbandonRecord(leftovers: leftovers, isDryRun: change.dryRun, recorded: recorded))
        }
        try output.flush()
    }

    private func write(_ report: RebuildReport, _ recorded: Int64?, took: Duration) throws {
        let output = ResultOutput(format)
        output.needsReader = false
        if output.format == .human {
            try writeText(report, recorded, took: took, to: output)
        } else {
            try output.document(RebuildRecord(report: report, isCompared: compare, recorded: recorded))
        }
        try output.flush()
    }

    private func writeText(
        _ report: RebuildReport, _ recorded: Int64?, took: Duration, to output: ResultOutput
    ) throws {
        let grouped = NumberText.grouped
        var table = TableLayout([.init("table"), .init("rows", .right)], width: output.width)
        for (name, rows) in report.rows.sorted(by: { $0.key < $1.key }) {
            table.add([TableCell(name), TableCell(grouped(rows))])
        }
        if !report.rows.isEmpty { try output.lines(table.lines(style: output.style)) }
        for difference in report.differences { try output.line(Self.line(difference)) }
        let hiddenCount = report.differingRows - report.differences.count
        if hiddenCount > 0 { try output.line("… and \(grouped(hiddenCount)) more", .removed) }
        for (name, kept) in report.kept.sorted(by: { $0.key < $1.key }) {
            try output.line("The old \(TargetArgument(table: name)) is kept as \(kept).")
        }
        try output.line(verdict(report), report.isSwapped || report.differences.isEmpty ? .added : .removed)
        let resumed = report.resumedAt > 0 ? ", from @\(report.resumedAt) where it was interrupted" : ""
        let events = NumberText.grouped(Int(report.position))
        let location = recorded.map { ", recorded as t:\($0)" } ?? ""
        try output.line("\(events) events in \(Age.text(microseconds: took.microseconds))\(resumed)\(location)", .dim)
    }

    private func verdict(_ report: RebuildReport) -> String {
        guard compare else { return "Rebuilt." }
        switch (report.differences.isEmpty, report.isSwapped) {
        case (true, false): return "The tables match the log."
        case (true, true): return "The tables matched the log. Rebuilt."
        case (false, false): return "The tables differ from the log."
        case (false, true): return "The tables differed from the log. Rebuilt."
        }
    }

    private static func line(_ difference: RebuildReport.Difference) -> StyledLine {
        var line = StyledLine("! \(TargetArgument(table: difference.table)): row \(difference.id) ", .removed)
        switch difference.kind {
        case .missing: line.add("is missing", .removed)
        case .extra: line.add("isn't in the log", .removed)
        case .different:
            line.add("differs in \(difference.column ?? "")", .removed)
            let texts = [difference.found, difference.expected].map { value in
                ValueText.text(StorageEvent.Field(column: "", value: value ?? .null))
            }
            line.addWord("\(texts[0]) → \(texts[1])", .dim)
        }
        return line
    }

}
