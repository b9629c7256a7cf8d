import ArgumentParser
import Foundation
import StorageKit

/// `storagekit import`: imports the commits of a change history.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a change history from JSON Lines, plain or zstd.",
        discussion: """
            Each line is one operation; lines with the same tx are one commit. Tables and columns are inferred and \
            printed. From a pipe that pauses, each commit is stored when the next begins. An interrupted import resumes after its last complete commit. --dry-run imports into a temporary \
            copy.

            Operations on a table that exists are written to it as it is: adopted, or declared by a program. A value that a \
            column would convert, an unknown column or a broken constraint is an invalid line. Triggers and actions of \
            foreign keys don't run there: what they did is in the history.

            Commits keep the actor, time and reason of the file. The import itself is recorded after them: \
            storagekit log --table storage_operation -p

              storagekit import -s app.sqlite history.jsonl.zst
              zcat history.jsonl.gz | storagekit import -s app.sqlite -
            """)

    @OptionGroup var store: StoreOption

    @Argument(help: "The file; - for standard input.")
    var file: String

    @Flag(name: .long, help: "Skip and count commits with an invalid line.")
    var skipInvalid = false

    @Option(name: .long, help: "Name of the key column of new tables, if not id.")
    var keyColumn: String?

    @Flag(name: .long, help: "Add missing columns to tables that weren't made by an import.")
    var addColumns = false

    @OptionGroup var change: ChangeOptions

    @Flag(name: [.short, .long], help: "Print nothing but errors.")
    var quiet = false

    func run() async throws {
        // The copy of a dry run is nowhere but in a temporary folder.
        guard change.dryRun else { return try await importFile() }
        try await UnfinishedFiles.removedBySignals { try await importFile() }
    }

    private func importFile() async throws {
        // Sound as `nonisolated(unsafe)`, both: created here, used on the writer's queue only while this task waits for it.
        nonisolated(unsafe) let reader = try LineReader(path: file)
        let rehearsal = try await change.dryRun ? DryRunCopy(of: store) : nil
        defer { rehearsal?.discard() }
        let path = try rehearsal?.path ?? store.path()
        let isNew = !FileManager.default.fileExists(atPath: path)
        let storage = try Storage.open(path: path)
        let options = HistoryImporter.Options(
            skipsInvalid: skipInvalid, keyColumn: keyColumn, addsColumns: addColumns,
            subject: file == "-" ? nil : (file as NSString).lastPathComponent, metadata: change.metadata)
        nonisolated(unsafe) let bar = ProgressBar("import", total: reader.size, unit: "bytes")
        defer { bar.finish() }
        let started = ContinuousClock.now
        do {
            try await storage.checkEnd()
            let summary = try await storage.engine.withWriter { writer, db in
                try HistoryImporter(reader, to: writer, in: db, options: options) { _ in bar.update(reader.bytesRead) }
                    .run()
            }
            try await storage.seal()
            try await storage.close()
            bar.finish()
            if !quiet { try report(summary, took: ContinuousClock.now - started) }
            if summary.skippedLines > 0 { throw ExitStatus.partial }
        } catch {
            // Commits before the error stay; an error of closing would only hide it, and so would one of removing.
            try? await storage.close()
            if isNew { try? StorageEngine.eraseUnused(path: path) }
            throw tableError(error) ?? error
        }
    }

    /// Returns what to do with a file that contains a table's rows; nil if it doesn't look like one.
    private func tableError(_ error: any Error) -> CommandError? {
        guard let error = error as? CommandError, error.what.hasPrefix("Line 1, byte 1:"),
            ["csv", "tsv"].contains((file as NSString).pathExtension.lowercased())
        else { return nil }
        return CommandError(
            error.status, "\((file as NSString).lastPathComponent) isn't a change history.",
            why: "Rows of a table have no operation, actor or time.",
            next: "Read them with .import of sqlite3 into a table with a primary key. Then type: "
                + "storagekit adopt DATABASE -s STORE")
    }

    private func report(_ summary: ImportSummary, took: Duration) throws {
        let isStored = !change.dryRun && summary.operations > 0
        try OutputFailure.reporting(
            isStored ? "The import is complete" : nil, next: "Type: storagekit log --schema -1"
        ) { try print(summary, took: took) }
    }

    private func print(_ summary: ImportSummary, took: Duration) throws {
        let output = StandardOutput()
        output.needsReader = false
        let grouped = NumberText.grouped
        func count(_ number: Int, _ word: String) -> String { NumberText.count(number, word) }
        for table in summary.tables {
            try output.writeLine(
                TerminalText.visible("table \(table.name): \(table.columns.joined(separator: ", "))"))
        }
        for (column, values) in summary.deviants {
            try output.writeLine(
                TerminalText.visible("mixed \(column): \(count(values, "value")) of another kind, kept as JSON"))
        }
        if summary.resumedAfter > 0 {
            try output.writeLine("resumed after line \(grouped(summary.resumedAfter)), which was imported before")
        }
        try output.writeLine(
            "imported \(count(summary.operations, "operation")) in \(count(summary.commits, "commit")): "
                + "\(count(summary.inserts, "insert")), \(count(summary.updates, "update")), "
                + count(summary.deletes, "delete"))
        let notes: [(Int, String, String)] = [
            (summary.unchanged, "update", "changed nothing and left no event"),
            (summary.clampedTimes, "commit", "had an earlier time than the one before and got that one's"),
            (summary.cutTimes, "commit", "had a time finer than a microsecond, which was cut"),
            (summary.stampedTimes, "commit", "had no time and got the present one"),
            (summary.skippedLines, "line", "left out, with \(count(summary.skippedCommits, "commit"))"),
        ]
        for (number, what, text) in notes where number > 0 { try output.writeLine("\(count(number, what)) \(text)") }
        let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
        if change.dryRun { try output.writeLine("nothing was changed") }
        try output.writeLine("took " + String(format: "%.1f", seconds) + " s")
        try output.flush()
    }
}
