import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit doctor`: a one-page health report of a store.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Diagnose a store and suggest repairs.",
        discussion: """
            Each line is a check: ok, warn or fail, the finding, and the command that repairs it. Compares a sample \
            of rows with the log; --deep reads every byte, like verify. --fix changes derived data only: it rebuilds \
            tables that differ, retries failed projections, completes the write guard, seals the log and checkpoints. If the file or the log is \
            damaged, it rebuilds nothing, because tables may have rows that the log has lost. Repairs are recorded: \
            storagekit log --table storage_operation -p

            Exits with status 5 if a check fails, 8 if --fix could repair only a part.

              storagekit doctor -s app.sqlite
              storagekit doctor -s app.sqlite --deep --format jsonl
              storagekit doctor -s app.sqlite --fix --dry-run
              storagekit doctor -s app.sqlite --fix --reason "the cache job wrote past the log"
            """)

    @OptionGroup var store: StoreOption

    @Flag(name: .long, help: "Verify the whole log, and every row against it.")
    var deep = false

    @Flag(name: .long, help: "Repair derived data.")
    var fix = false

    @OptionGroup var change: ChangeOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if !fix, change.dryRun || change.reason != nil || change.yes {
            throw ValidationError("--dry-run, --reason and --yes require --fix.")
        }
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "doctor")
        let path = try store.path()
        var found = try await examine(path)
        var repairs: [Checkup.Repair] = []
        for case let repair? in found.map(\.repair) where fix && !repairs.contains(repair) { repairs.append(repair) }
        var fixed: [String] = []
        if !change.dryRun, !repairs.isEmpty {
            try confirm(repairs)
            fixed = try await make(repairs, path)
            found = try await examine(path)
        }
        let output = ResultOutput(format)
        output.needsReader = false
        let plan = change.dryRun ? repairs.map(\.plan) : []
        let answer = DoctorAnswer(path: path, checks: found, plan: plan, fixed: fixed)
        try OutputFailure.reporting(fixed.isEmpty ? nil : "The repairs were made", next: "Type: storagekit doctor") {
            try answer.write(to: output)
        }
        guard found.contains(where: { $0.status == .failed }) else { return }
        throw fixed.isEmpty ? ExitStatus.corrupt : ExitStatus.partial
    }

    private func examine(_ path: String) async throws -> [Checkup] {
        let isDeep = deep
        let storage: Storage
        do {
            storage = try store.openForReading()
        } catch let error as StorageError where error.code == .notAStore && error.cause != nil {
            return [
                .failed("file", error.message, remedy: "Restore a backup: storagekit restore BACKUP -o NEW")
            ]
        }
        // A store whose state can't be read is examined anyway.
        if ServedCommand.isServed { try? await storage.readHistory { try ServedCommand.report($0) } }
        let end = storage.engine.acknowledgedEnd()
        let found = try await storage.engine.read { (db: GRDB.Database) in
            let connection = try db.connection
            var bar: ProgressBar?
            defer { bar?.finish() }
            let doctor = Doctor(
                database: connection, path: path, end: end, isDeep: isDeep, now: SystemTime.now
            ) { done, all in
                let shown = bar ?? ProgressBar("verify", total: all, unit: "events")
                bar = shown
                shown.update(done)
            }
            return try doctor.run()
        }
        try await storage.close()
        return found
    }

    /// Asks before a rebuild, because it discards changes that were made without the log.
    private func confirm(_ repairs: [Checkup.Repair]) throws {
        let rebuilds = repairs.filter { if case .rebuild = $0 { true } else { false } }
        guard !rebuilds.isEmpty else { return }
        let plan = rebuilds.map(\.plan).joined(separator: ", ")
        try change.confirmIfAttended("This would \(plan); what the log doesn't know is lost. Continue?")
    }

    /// Makes the repairs, and records and returns what was done.
    private func make(_ repairs: [Checkup.Repair], _ path: String) async throws -> [String] {
        let storage = try Storage.open(path: path)
        var done: [Checkup.Repair] = []
        do {
            for repair in repairs {
                try await Self.make(repair, in: storage)
                done.append(repair)
            }
            try await record(done, isComplete: true, in: storage)
            try await storage.close()
        } catch {
            // Completed repairs stay, and the failure's reason is printed.
            if !done.isEmpty, done.count < repairs.count { try? await record(done, isComplete: false, in: storage) }
            try? await storage.close()
            throw error
        }
        return done.map(\.done)
    }

    private func record(_ done: [Checkup.Repair], isComplete: Bool, in storage: Storage) async throws {
        let operation = try StorageOperation(
            "doctor --fix", outcome: RepairOutcome(isComplete: isComplete, fixed: done.map(\.done)))
        try await storage.engine.record(operation, metadata: change.metadata)
    }

    private static func make(_ repair: Checkup.Repair, in storage: Storage) async throws {
        switch repair {
        case .rebuild(let tables): _ = try await Rebuild(storage.engine, tables).run()
        case .resume(let name):
            try await storage.engine.withWriter { writer, db in
                guard let projections = writer.userProjections else { throw StorageError.closed() }
                try projections.instruct(name, to: .resume, recording: nil, on: writer, db)
            }
        case .guardTables: try await storage.setWriteGuard(true)
        case .seal: try await storage.seal()
        case .checkpoint: try await storage.engine.withWriter { writer, db in try writer.checkpoint(db) }
        }
    }
}

extension Checkup.Repair {
    /// The repair as a plan.
    fileprivate var plan: String {
        switch self {
        case .rebuild(let tables): "rebuild \(Self.list(tables)) from the log"
        case .resume(let name): "retry \(name) when its program opens the store"
        case .guardTables: "complete the write guard"
        case .seal: "seal the log"
        case .checkpoint: "checkpoint the write-ahead log"
        }
    }

    /// The repair as done.
    fileprivate var done: String {
        switch self {
        case .rebuild(let tables): "rebuilt \(Self.list(tables)) from the log"
        case .resume(let name): "\(name) will be retried when its program opens the store"
        case .guardTables: "completed the write guard"
        case .seal: "sealed the log"
        case .checkpoint: "checkpointed the write-ahead log"
        }
    }

    private static func list(_ tables: [String]) -> String {
        tables.isEmpty ? "every table" : tables.joined(separator: ", ")
    }
}

/// The checks and the repairs, for people and as JSON.
private struct DoctorAnswer {
    let path: String
    let checks: [Checkup]
    /// The repairs that would be made.
    let plan: [String]
    let fixed: [String]

    func write(to output: ResultOutput) throws {
        if output.format == .human { return try writeText(to: output) }
        for check in checks {
            try output.record(
                CheckRecord(
                    check: check.name, status: check.status.rawValue, message: check.message,
                    remedy: check.remedy.isEmpty ? nil : check.remedy))
        }
        for text in plan { try output.record(RepairRecord(text: text, isDone: false)) }
        for text in fixed { try output.record(RepairRecord(text: text, isDone: true)) }
        try output.finish()
    }

    private func writeText(to output: ResultOutput) throws {
        for text in fixed { try output.line("fixed   \(text)", .added) }
        for text in plan { try output.line("would   \(text)", .changed) }
        for check in checks {
            let role: Style.Role =
                switch check.status {
                case .ok: .added
                case .warning: .changed
                case .failed: .removed
                }
            let status = check.status.rawValue.padding(toLength: 4, withPad: " ", startingAt: 0)
            let name = check.name.padding(toLength: 11, withPad: " ", startingAt: 0)
            var line = StyledLine(status, role)
            line.add("  \(name)  ")
            line.add(check.message, check.status == .ok ? .dim : .plain)
            // Problems and remedies are never truncated.
            try output.lines([line.rendered(output.style, width: check.status == .ok ? output.width : nil)])
            if !check.remedy.isEmpty {
                try output.lines([output.style.dim("        next: ") + TerminalText.visible(check.remedy)])
            }
        }
        let failed = checks.count { $0.status == .failed }
        let warnings = checks.count { $0.status == .warning }
        let verdict =
            failed > 0
            ? NumberText.count(failed, "check fails", plural: "checks fail")
            : warnings > 0 ? "Sound, with \(NumberText.count(warnings, "warning"))" : "Sound"
        try output.line("\(verdict).", failed > 0 ? .removed : warnings > 0 ? .changed : .added)
        try output.flush()
    }
}
