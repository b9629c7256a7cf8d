import Foundation
import GRDB
import StorageKit

/// Reads a change history and makes its commits.
///
/// Many commits share one SQLite transaction, each with a savepoint of its own, so that a bad line costs its own commit
/// only. Not `Sendable`: it lives on the writer's queue.
final class HistoryImporter {
    struct Options: Sendable {
        var skipsInvalid = false
        var keyColumn: String?
        /// Whether tables that weren't made by an import get the columns that they lack.
        var addsColumns = false
        /// The file's name without its folder; nil for standard input.
        var subject: String?
        /// Who imports, and why; the imported commits tell of themselves.
        var metadata = CommitMetadata()
    }

    /// A transaction is finished when this much waits in it.
    private static let groupEvents = 16_384
    private static let groupBytes = 16 << 20
    /// And when the input brings nothing for so long, so that a slow producer's commits are seen as they come.
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
    /// Where the last whole commit ended.
    private var progress = ImportProgress(source: "")
    private var lastTime = Int64.min

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

    /// - Throws: `CommandError` at the first bad line, unless they are skipped; what came before it is stored.
    func run() throws -> ImportSummary {
        lastTime = writer.head.time
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
        while line != nil {
            if let failure = try importGroup() { throw failure }
            report(reader.lineNumber)
        }
    }

    /// What triggers and foreign keys did is among the operations of a history. Done again by themselves, it would be there
    /// twice, or stand in the way of those operations.
    private func withoutActions(_ body: () throws -> Void) throws {
        try writer.with(settings: [("foreign_keys", "0")]) {
            try writer.withoutTriggers(body)
        }
    }

    /// Makes commits in one transaction; in the last one, that of the import as well.
    ///
    /// - Returns: The error of a line that ends the import, while what came before it is stored.
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

    /// An import is one operation, at the end, so that positions and numbers of commits are those of the history; a run
    /// that changes nothing is none. One that is killed, or for which the disk has no room, isn't recorded: the run that
    /// is resumed prints the line after which it did.
    private func record(isComplete: Bool) throws {
        guard summary.operations > summary.unchanged else { return }
        let operation = try StorageOperation(
            "import", subject: options.subject,
            outcome: ImportOutcome(
                isComplete: isComplete, commits: summary.commits, inserts: summary.inserts,
                updates: summary.updates - summary.unchanged, deletes: summary.deletes,
                skippedLines: summary.skippedLines, resumedAfter: summary.resumedAfter))
        try writer.record(operation, metadata: options.metadata, at: lastTime)
    }

    /// Reads the first line, and passes what an earlier run has stored.
    private func begin() throws {
        line = try nextLine()
        guard let first = line else { return }
        progress.source = String(ByteHash.hash(first.bytes, seed: 0), radix: 16)
        // One that failed at its first commit has stored nothing that this one could go on with.
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

    private func nextLine() throws -> InputLine? {
        while let next = try reader.next() {
            if !next.bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return next }
        }
        return nil
    }

    /// What is wrong with the line that was read last; it belongs to the commit that it would have begun or joined.
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
    /// Makes one commit of the lines that follow. Returns the error that ends the import.
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
                        why: "Nothing of the commit that this line belongs to was stored.", next: error.remedy)
                default: error
                }
            guard options.skipsInvalid else { return failure }
            try skipRest(of: tx)
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

    /// Errors that a line is to blame for; others end the import whatever the options say.
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

    /// The lines of a commit must agree on who, when and why.
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
        if time < lastTime { summary.clampedTimes += 1 }
        lastTime = max(lastTime, time)
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

    /// After a rollback the tables may lack columns that were added for the commit that failed.
    private func forgetTables() {
        tables.removeAll()
        references.forget()
        lastTable = 0
    }
}
