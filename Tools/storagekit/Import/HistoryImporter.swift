import Foundation
import GRDB
import StorageKit

/// Imports the commits of a change history.
///
/// Many commits share one SQLite transaction, each with its own savepoint, so that a bad line undoes its own commit only. Not `Sendable`: it is used
/// on the writer's queue.
final class HistoryImporter {
    struct Options: Sendable {
        var skipsInvalid = false
        var keyColumn: String?
        /// Whether missing columns are added to tables that weren't created by an import.
        var addsColumns = false
        /// The file's name without its folder; nil for standard input.
        var subject: String?
        /// The author of the import and the reason; imported commits have their own metadata.
        var metadata = CommitMetadata()
    }

    /// A transaction is committed when it contains this many events.
    private static let groupEvents = 16_384
    private static let groupBytes = 16 << 20
    /// It is also committed if no input arrives for this long, so that a slow producer's commits become visible as they arrive.
    private static let idleMilliseconds: Int32 = 100

    private let reader: LineReader
    private let writer: LogWriter
    private let db: GRDB.Database
    private let options: Options
    private let report: (Int) -> Void
    private var parser = OperationParser()
    private var operation = HistoryOperation()
    private var line: InputLine?
    private var tables: [any ImportTarget] = []
    private var lastTable = 0
    private let fit = ValueFit()
    private let references: ReferenceCheck
    private var summary = ImportSummary()
    /// The end of the last complete commit.
    private var progress = ImportProgress(source: "")
    /// The latest time of the log and the history; nil before there is one. It may be before 1970.
    private var lastTime: Int64?

    init(
        _ reader: LineReader, to writer: LogWriter, in db: GRDB.Database, options: Options,
        report: @escaping (_ lines: Int) -> Void
    ) {
        self.reader = reader
        self.writer = writer
        self.db = db
        self.options = options
        self.report = report
        references = ReferenceCheck(writer)
    }

    /// - Throws: `CommandError` at the first bad line, unless bad lines are skipped; the commits before it are stored.
    func run() throws -> ImportSummary {
        if writer.head.commit > 0 { lastTime = writer.head.time }
        try begin()
        let hasDeclared = writer.catalog.live.contains { ImportTable($0, writer: writer) == nil }
        try hasDeclared ? withoutActions(importAll) : importAll()
        summary.tables = tables.map { table in
            (table.name + (table.nameInSQL.map { " (in SQL \($0))" } ?? ""), table.columnNames)
        }
        summary.deviants = tables.flatMap { table in
            table.deviants.sorted { $0.key < $1.key }.map { ("\(table.name).\($0.key)", $0.value) }
        }
        return summary
    }

    private func importAll() throws {
        var stored = (commits: 0, lines: 0)
        do {
            while line != nil {
                let failure = try importGroup()
                stored = (summary.commits, progress.lines)
                if let failure { throw failure }
                report(reader.lineNumber)
            }
        } catch {
            guard stored.commits > 0 else { throw error }
            let cause = CommandError(wrapping: error)
            let commits = NumberText.count(stored.commits, "commit")
            let kept = "Stored before: \(commits), up to line \(NumberText.grouped(stored.lines))."
            throw CommandError(
                cause.status, cause.what, why: cause.why.isEmpty ? kept : "\(cause.why) \(kept)", next: cause.next)
        }
    }

    /// The operations of a history include the changes that triggers and foreign keys have made to tables with history. If those ran again, their
    /// changes would be duplicated, or conflict with the operations.
    private func withoutActions(_ body: () throws -> Void) throws {
        try writer.with(settings: [("foreign_keys", "0")]) {
            try writer.withoutTriggers(body)
        }
    }

    /// Makes commits in one transaction; the last transaction also contains the commit that records the import.
    ///
    /// - Returns: The error of a line that ends the import; the commits before it are stored.
    private func importGroup() throws -> (any Error)? {
        var failure: (any Error)?
        try writer.group(db, sealing: true) {
            while line != nil, failure == nil, writer.pendingEvents < Self.groupEvents,
                writer.pendingBytes < Self.groupBytes
            {
                failure = try importCommit()
                if line != nil, !reader.isReady(withinMilliseconds: Self.idleMilliseconds) { break }
            }
            try progress.store(writer)
            if line == nil || failure != nil { try record(isComplete: failure == nil) }
        }
        return failure
    }

    /// An import is recorded as one operation at its end, so that positions and commit numbers are those of the history; a run without changes isn't
    /// recorded. Neither is one that is killed or fills the disk: the run that resumes it prints the line after which it has resumed.
    private func record(isComplete: Bool) throws {
        guard summary.operations > summary.unchanged else { return }
        let operation = try StorageOperation(
            "import", subject: options.subject,
            outcome: ImportOutcome(
                isComplete: isComplete, commits: summary.commits, inserts: summary.inserts,
                updates: summary.updates - summary.unchanged, deletes: summary.deletes,
                skippedLines: summary.skippedLines, resumedAfter: summary.resumedAfter))
        try writer.record(operation, metadata: options.metadata, at: lastTime ?? writer.head.time)
    }

    /// Reads the first line, and skips what an earlier run has stored.
    private func begin() throws {
        line = try nextLine()
        guard let first = line else { return }
        progress.source = String(ByteHash.hash(first.bytes, seed: 0), radix: 16)
        // A run that failed at its first commit has stored nothing to resume from.
        if let earlier = try ImportProgress.load(progress.source, writer), earlier.bytes > 0 {
            while reader.offset < earlier.bytes, line != nil { line = try nextLine() }
            guard reader.offset == earlier.bytes, reader.hash == earlier.hash else {
                throw CommandError(
                    .conflict, "The input starts like an earlier import, but differs after it.",
                    why: "Its first \(earlier.lines) lines were imported; they aren't the same any more.",
                    next: "Import it into a new store.")
            }
            summary.resumedAfter = earlier.lines
            progress = earlier
            line = try nextLine()
        }
        try parseLine()
    }

    /// Whether the input itself couldn't be read, such as a file that was cut off. It ends the import: no line is bad.
    private var hasReadFailed = false

    private func nextLine() throws(CommandError) -> InputLine? {
        do throws(CommandError) {
            while let next = try reader.next() {
                if !next.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return next }
            }
            return nil
        } catch {
            hasReadFailed = true
            throw error
        }
    }

    /// The error of the last line; it belongs to the commit that the line would have begun or joined.
    private var parseError: InputError?

    private func parseLine() throws {
        parseError = nil
        guard let line else { return }
        do throws(InputError) {
            try parser.parse(line.bytes, into: &operation)
        } catch {
            parseError = error
        }
        operation.line = line
    }

    private func advance() throws {
        line = try nextLine()
        try parseLine()
    }
}

// MARK: Commits

extension HistoryImporter {
    /// Makes one commit from the next lines. Returns the error that ends the import.
    ///
    /// A line that can't be read belongs to the commit that its `tx` names, or, where even that can't be read, to the
    /// commit before it.
    private func importCommit() throws -> (any Error)? {
        guard let first = line else { return nil }
        let tx = operation.tx
        let time = operation.at
        let isCut = operation.isTimeCut
        let before = (summary, progress)
        do {
            let metadata = metadata()
            references.beginCommit()
            _ = try writer.commit(metadata, at: time) {
                repeat {
                    if let parseError { throw parseError }
                    try checkHead(metadata, time)
                    try apply()
                    noteProgress()
                    try advance()
                } while line != nil && operation.tx == tx
                try references.endCommit()
            }
            summary.commits += 1
            note(time, isCut: isCut)
            return nil
        } catch let error where isAboutInput(error) {
            forgetTables()
            (summary, progress) = before
            let number = line?.number ?? reader.lineNumber
            let failure: any Error =
                switch error {
                case let error as InputError: CommandError(error, line: number)
                case let error as StorageError:
                    CommandError(
                        .conflict, "Line \(number): \(error.message)",
                        why: "Nothing of the commit that this line belongs to was stored.",
                        next: CommandError.advice(of: error))
                default: error
                }
            guard options.skipsInvalid, !hasReadFailed else { return failure }
            do {
                try skipRest(of: tx)
            } catch {
                // A second run reads this commit as a whole.
                progress = before.1
                return error
            }
            summary.skippedCommits += 1
            summary.skippedLines += (line?.number ?? reader.lineNumber + 1) - first.number
            return nil
        }
    }

    private func skipRest(of tx: Int64) throws {
        while line != nil, operation.tx == tx {
            noteProgress()
            try advance()
        }
    }

    private func noteProgress() {
        progress.bytes = reader.offset
        progress.lines = reader.lineNumber
        progress.hash = reader.hash
    }

    /// Returns whether a line caused the error; other errors always end the import.
    private func isAboutInput(_ error: any Error) -> Bool {
        if error is InputError { return true }
        guard let error = error as? StorageError else { return error is CommandError }
        return [
            .invalidValue, .invalidName, .limitExceeded, .clockAhead, .conflict, .database, .schemaMismatch,
        ].contains(error.code)
    }

    private func metadata() -> CommitMetadata {
        CommitMetadata(
            actor: operation.actor?.string, app: operation.app?.string, reason: operation.reason?.string,
            correlation: operation.correlation?.string)
    }

    /// Checks that the lines of a commit agree on metadata and time.
    private func checkHead(_ metadata: CommitMetadata, _ time: Int64?) throws {
        guard operation.at == time, same(operation.actor, metadata.actor), same(operation.app, metadata.app),
            same(operation.reason, metadata.reason), same(operation.correlation, metadata.correlation)
        else {
            throw InputError(
                offset: 0, problem: "at, actor, app, reason or correlation differ from those of the same tx before",
                remedy: "Give the operations of one commit the same, or different numbers tx.")
        }
    }

    private func same(_ bytes: ByteSlice?, _ text: String?) -> Bool {
        switch (bytes, text) {
        case (nil, nil): return true
        case (let bytes?, let text?): return bytes.equals(text: text)
        default: return false
        }
    }

    private func note(_ time: Int64?, isCut: Bool) {
        if isCut { summary.cutTimes += 1 }
        guard let time else {
            summary.stampedTimes += 1
            return
        }
        let last = lastTime ?? time
        if time < last { summary.clampedTimes += 1 }
        lastTime = max(last, time)
    }

    private func apply() throws {
        let before = writer.pendingEvents
        try table().apply(operation)
        switch operation.kind {
        case .insert: summary.inserts += 1
        case .update:
            summary.updates += 1
            if writer.pendingEvents == before { summary.unchanged += 1 }
        case .delete: summary.deletes += 1
        }
    }

    private func table() throws -> any ImportTarget {
        if lastTable < tables.count, isNamed(tables[lastTable]) { return tables[lastTable] }
        if let index = tables.firstIndex(where: isNamed) {
            lastTable = index
            return tables[index]
        }
        let table: any ImportTarget
        if let entity = writer.catalog.entity(named: operation.table.string) {
            guard !entity.isReserved else {
                throw InputError(
                    offset: 0,
                    problem: "\"\(entity.name)\" is the store's own: names that begin with storage_ are reserved",
                    remedy: "Leave it out, or give the table another name.")
            }
            table =
                ImportTable(entity, writer: writer)
                ?? DeclaredTable(
                    entity, writer: writer, fit: fit, references: references, addsColumns: options.addsColumns)
        } else if operation.kind == .insert {
            table = try ImportTable(creatingFor: operation, keyNamed: options.keyColumn, writer: writer)
        } else {
            throw InputError(
                offset: 0,
                problem: "there is no table \"\(operation.table.string)\" yet, so no row can be \(operation.kind.past)",
                remedy: "A table begins with an insert.")
        }
        tables.append(table)
        lastTable = tables.count - 1
        return table
    }

    private func isNamed(_ table: any ImportTarget) -> Bool {
        operation.table.equals(table.nameBytes)
    }

    /// After a rollback, columns that were added for the failed commit may be missing.
    private func forgetTables() {
        tables.removeAll()
        references.forget()
        lastTable = 0
    }
}
