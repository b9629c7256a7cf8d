import ArgumentParser
import StorageKit

/// `storagekit record`: turns changes that other programs made without the log into events.
struct RecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Record changes that another program made past the log.",
        discussion: """
            Compares the tables with the log, and records what differs as one commit, with you as the actor: which \
            program changed the rows, and when, isn't known. It is tried on a temporary copy first, and shown before the \
            question. To discard such changes instead, rebuild the tables: storagekit rebuild.

              storagekit record -s app.sqlite --dry-run
              storagekit record -s app.sqlite users --reason "prices corrected with sqlite3"
            """)

    @Argument(help: "Tables to record. Default: all.")
    var tables: [String] = []

    @OptionGroup var store: StoreOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "record")
        let command = self
        let names = try await store.read { store in
            let names = try command.entities(store)
            // Opening the store for writing rebuilds missing tables, with the rows that the log has.
            try ForeignSchemaChange.check(of: names, store.catalog, in: store.connection)
            return names
        }
        let output = ResultOutput(format)
        // The question is asked on standard error.
        output.needsReader = false
        let rehearsed = try await UnfinishedFiles.removedBySignals { try await rehearse(names) }
        let plan = rehearsed.changes
        guard !change.dryRun, plan.outcome.count > 0 else {
            return try write(plan, differing: rehearsed.differingRows, isDone: !change.dryRun, to: output)
        }
        let summary = PlanText.summary(of: plan.outcome)
        if !change.yes {
            if output.format == .human {
                try PlanText.write(plan.plan, of: plan.outcome.count, to: output)
                try output.flush()
            }
            try change.confirm("\(summary). Record them?")
        }
        let report = try await store.write(isDryRun: false, repairs: true) { storage in
            try await DriftRecording(storage.engine, names).run(metadata: command.change.metadata).changes
        }
        try OutputFailure.reporting(commit: report.receipt?.commit) {
            try write(report, isDone: true, to: output)
        }
    }

    private func entities(_ store: HistoryReader) throws -> [String] {
        try tables.map { name in
            guard let entity = try EntityNames(store).users(named: name).first(where: { !$0.isDropped }) else {
                throw CommandError(
                    .notFound, "The table \"\(name)\" was dropped.",
                    next: "Type: storagekit log --table \(name.quotedAsShellWord)")
            }
            return entity.name
        }
    }

    /// Returns what would be recorded. A table that can't be recorded, such as one with a duplicate key, fails here.
    private func rehearse(_ names: [String]) async throws -> DriftRecording.Outcome {
        let rehearsal = try await DryRunCopy(of: store)
        defer { rehearsal.discard() }
        let storage = try Storage.open(path: rehearsal.path)
        do {
            let outcome = try await DriftRecording(storage.engine, names).run(
                metadata: change.metadata, isDryRun: true)
            try await storage.close()
            return outcome
        } catch {
            // The copy is removed with its folder, and the error reports the reason.
            try? await storage.close()
            throw error
        }
    }

    /// - Parameter differing: How many rows differ from the log, where nothing was recorded.
    private func write(
        _ report: RevertReport, differing: Int = 0, isDone: Bool, to output: ResultOutput
    ) throws {
        let outcome = report.outcome
        if output.format == .human {
            if !isDone { try PlanText.write(report.plan, of: outcome.count, to: output) }
            let summary = PlanText.summary(of: outcome)
            if outcome.count == 0 {
                try output.line(Self.nothing(differing: differing))
            } else if let commit = report.receipt?.commit {
                try output.line(PlanText.done(summary, in: commit))
            } else {
                try output.line("Would be recorded: \(summary).")
            }
        } else {
            let counts = (outcome.inserted, outcome.updated, outcome.deleted)
            try output.document(
                ExecRecord(
                    report: ExecutionReport(
                        inserted: counts.0, updated: counts.1, deleted: counts.2, receipt: report.receipt,
                        plan: report.plan), isDone: isDone))
        }
        try output.flush()
    }

    private static func nothing(differing: Int) -> String {
        if differing == 0 { return "Nothing to do: the tables match the log." }
        let rows = NumberText.count(differing, "row differs", plural: "rows differ")
        return "Nothing to record: \(rows) from the log only in _position. To correct that: storagekit rebuild"
    }
}
