import ArgumentParser
import GRDB
import StorageCore
import StorageKit

/// `storagekit verify`: checks that the store is intact.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the whole store against its log.",
        discussion: """
            Reads every byte once: the file, the log, and every table against the log. Exits with status 5 if \
            anything is damaged or differs. rebuild --compare shows the rows that differ; doctor also checks the \
            schema, the clock, projections and the disk, and says what to do.

              storagekit verify -s app.sqlite
              storagekit verify -s app.sqlite --format json
            """)

    @OptionGroup var store: StoreOption
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "verify")
        let started = ContinuousClock.now
        let storage = try await Self.naming { try store.openForReading() }
        // A store whose state can't be read is verified anyway.
        if ServedCommand.isServed { try? await storage.readHistory { try ServedCommand.report($0) } }
        let bars = StageProgress { _ in "events" }
        defer { bars.finish() }
        let report = try await Self.naming {
            try await storage.verify { bars.update("verify", done: Int($0), of: Int($1)) }
        }
        bars.finish()
        // If segments can't be counted because of damage, the report says so.
        let segments = try? await storage.engine.read { try Self.segmentCount($0.connection) }
        let unrecorded = try? await storage.readHistory {
            try UnrecordedTables.names(in: $0.connection, catalog: $0.catalog)
        }
        try await storage.close()
        let answer = VerifyAnswer(report: report, segments: segments ?? nil, unrecorded: unrecorded ?? [])
        let output = ResultOutput(format)
        output.needsReader = false
        if output.format == .human {
            try answer.write(to: output, took: ContinuousClock.now - started)
        } else {
            try output.document(VerifyRecord(report: report, verified: answer.verified))
        }
        try output.flush()
        if !report.isSound { throw ExitStatus.corrupt }
    }

    /// A file that is too damaged to be opened is a result of this command, not a wrong name.
    private static func naming<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as StorageError where error.code == .notAStore && error.cause != nil {
            throw CommandError(.corrupt, error.message, next: error.remedy)
        } catch let error as StorageError where error.code == .corrupt {
            throw CommandError(
                .corrupt, error.message,
                next: recommendsThisCommand(error)
                    ? "Restore a backup: storagekit restore BACKUP -o NEW. Without one, sqlite3 STORE .recover may save rows."
                    : error.remedy)
        }
    }

    /// Errors of the library mostly do; a copy of the file is something else.
    private static func recommendsThisCommand(_ error: StorageError) -> Bool {
        error.remedy.replacingOccurrences(of: "storagekit verify -s COPY", with: "").contains("storagekit verify")
    }

    /// Returns the number of sealed segments; nil if damage prevents counting them.
    private static func segmentCount(_ connection: Connection) -> Int64? {
        guard let select = try? PreparedStatement(connection, "SELECT count(*) FROM storage_log WHERE sealed != 0"),
            (try? select.step()) == true
        else { return nil }
        return select.integer(0)
    }
}

/// The report as text and as JSON.
private struct VerifyAnswer {
    let report: VerifyReport
    let segments: Int64?
    /// Tables without history, which weren't compared.
    let unrecorded: [String]

    /// The range from the first to the last verified position; `notVerified` lists the gaps in it.
    var verified: ClosedRange<Int64>? {
        guard let requested = report.requested else { return nil }
        var first = requested.lowerBound
        var last = requested.upperBound
        for gap in report.notVerified.sorted(by: { $0.lowerBound < $1.lowerBound }) where gap.lowerBound <= first {
            first = max(first, gap.upperBound + 1)
        }
        for gap in report.notVerified.sorted(by: { $0.upperBound > $1.upperBound }) where gap.upperBound >= last {
            last = min(last, gap.lowerBound - 1)
        }
        return first <= last ? first...last : nil
    }

    func write(to output: ResultOutput, took: Duration) throws {
        var table = TableLayout([.init(""), .init(""), .init("")], width: output.width)
        let grouped = NumberText.grouped
        let requested = report.requested.map { "@\($0.lowerBound)..@\($0.upperBound)" }
        table.add([TableCell("asked", .dim), TableCell(requested ?? "nothing"), TableCell("the whole store", .dim)])
        var notes = ["\(grouped(report.events)) events", "\(grouped(report.commits)) commits"]
        if let segments { notes.append("\(grouped(Int(segments))) sealed segments") }
        notes.append(Age.text(microseconds: took.microseconds))
        table.add([
            TableCell("verified", .dim),
            TableCell(verified.map { "@\($0.lowerBound)..@\($0.upperBound)" } ?? "nothing"),
            TableCell(notes.joined(separator: ", "), .dim),
        ])
        for gap in report.notVerified {
            table.add([
                TableCell("not verified", .removed), TableCell(gap.positionText),
                TableCell("the log is damaged there", .dim),
            ])
        }
        let tables =
            report.notVerified.isEmpty
            ? TableCell("\(grouped(report.rows)) rows compared with the log", .dim)
            : TableCell("not compared, because the log is damaged", .removed)
        table.add([TableCell("tables", .dim), TableCell(""), tables])
        if !unrecorded.isEmpty {
            let names = NumberText.count(unrecorded.count, "table has", plural: "tables have")
            table.add([
                TableCell("", .dim), TableCell(""),
                TableCell("\(names) no history: \(Suggestions.list(unrecorded))", .changed),
            ])
        }
        try output.lines(table.lines(style: output.style))
        for warning in report.warnings { try output.line("? \(warning)", .changed) }
        for finding in report.findings { try output.line("! \(finding)", .removed) }
        if report.isTruncated {
            try output.line("! There is more; the first \(report.findings.count) are shown.", .removed)
        }
        let count = report.findings.count
        try output.line(
            report.isSound ? "OK" : "DAMAGED: \(NumberText.count(count, "finding"))",
            report.isSound ? .added : .removed)
    }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
