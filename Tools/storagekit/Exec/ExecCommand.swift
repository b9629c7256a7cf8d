import ArgumentParser
import Foundation
import StorageKit

/// `storagekit exec`: changes rows with SQL, as one commit.
struct ExecCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Change rows with SQL, recorded as one commit.",
        discussion: """
            INSERT, UPDATE and DELETE of tables with history become events, with those of their triggers and foreign \
            keys. Rows of tables without history change, too, but aren't recorded. Several statements are one commit: \
            all of them, or none. --dry-run shows the rows that would change; on a terminal they are shown before the \
            question. "-" reads the statements from standard input. The schema is changed by migrations of the store's \
            program, not here.

              storagekit exec -s app.sqlite "UPDATE users SET name = 'Anna' WHERE id = 42" --reason "ticket 7"
              storagekit exec -s app.sqlite "DELETE FROM sessions WHERE expires < date('now')" --dry-run
              storagekit exec -s app.sqlite --yes - < correction.sql
            """)

    @Argument(help: "The statements, or - to read them from standard input.")
    var sql: String

    @OptionGroup var store: StoreOption
    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "exec")
        let sql = sql == "-" ? try StandardInput.text() : sql
        guard sql.contains(where: { !$0.isWhitespace && $0 != ";" }) else {
            throw CommandError(.usage, "There is no statement.", next: "Write it in quotes after exec.")
        }
        let command = self
        try await store.write(isDryRun: change.dryRun) { storage in
            do {
                try await command.run(sql, in: storage)
            } catch let error as StorageError {
                if error.message.contains("values were supplied") {
                    throw CommandError(
                        .usage, error.message,
                        next:
                            "Name the columns: INSERT INTO TABLE (a, b) VALUES …; a table with history has one more, _position."
                    )
                }
                let catalog = try await storage.readHistory { $0.catalog }
                throw CommandError(missingIn: sql, error, catalog: catalog) ?? CommandError(error)
            }
        }
    }

    private func run(_ sql: String, in storage: Storage) async throws {
        let output = ResultOutput(format)
        // The question is asked on standard error.
        output.needsReader = false
        // With --yes there is no question, so no plan is computed.
        if change.dryRun || !change.yes {
            let plan = try await storage.engine.execute(sql, metadata: change.metadata, isDryRun: true)
            guard !change.dryRun, plan.count > 0 || plan.isUnrecorded else {
                return try write(plan, isDone: !change.dryRun, to: output)
            }
            if output.format == .human {
                try PlanText.write(plan.plan, of: plan.count, to: output)
                try output.flush()
            }
            try change.confirm("\(Self.summary(of: plan)). Continue?")
        }
        let report = try await storage.engine.execute(sql, metadata: change.metadata)
        try OutputFailure.reporting(commit: report.receipt?.commit) {
            try write(report, isDone: true, to: output)
        }
    }

    private func write(_ report: ExecutionReport, isDone: Bool, to output: ResultOutput) throws {
        if output.format == .human {
            if !isDone { try PlanText.write(report.plan, of: report.count, to: output) }
            let summary = Self.summary(of: report)
            if report.isUnrecorded {
                try output.line("\(isDone ? "Done" : "Would be done"): \(summary).")
            } else if report.count == 0 {
                try output.line("Nothing to do: no row of a table with history changes.")
            } else if let commit = report.receipt?.commit {
                try output.line(PlanText.done(summary, in: commit))
            } else {
                try output.line("Would be done: \(summary).")
            }
        } else {
            try output.document(ExecRecord(report: report, isDone: isDone))
        }
        try output.flush()
    }

    private static func summary(of report: ExecutionReport) -> String {
        if report.isUnrecorded { return "only changes of tables without history" }
        return PlanText.summary(inserted: report.inserted, updated: report.updated, deleted: report.deleted)
    }
}
