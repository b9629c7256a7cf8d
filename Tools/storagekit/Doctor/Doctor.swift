import CSQLite
import Foundation
import StorageKit

/// Runs the checks of a store one after another, on one state of it.
///
/// Not `Sendable`: it belongs to the connection's thread.
struct Doctor {
    let database: Connection
    let path: String
    /// The path as it is typed in a shell.
    var quotedPath: String { path.quotedAsShellWord }
    /// Read before the state that is examined.
    let end: AcknowledgedEnd?
    /// Whether every byte is read.
    let isDeep: Bool
    /// Microseconds since 1970 UTC.
    let now: Int64
    let progress: (_ done: Int, _ all: Int) -> Void

    /// - Throws: Errors of the disk or memory, which say nothing about the store.
    func run() throws -> [Checkup] {
        var found: [Checkup] = []
        for (name, check) in checks {
            do {
                found += try check()
            } catch {
                let cause = StorageError.wrapping(error)
                if (cause as? StorageError)?.isOfTheMachine ?? false { throw cause }
                // Damage can make any statement fail: then the error is the finding, and the other checks continue.
                let error = CommandError(wrapping: cause)
                let remedy = "storagekit verify -s \(quotedPath)"
                found.append(
                    Self.ofLog.contains(name)
                        ? .damaged(name, error.what, remedy: remedy) : .failed(name, error.what, remedy: remedy))
            }
        }
        return found.contains(where: \.isDamage) ? found.map(\.withoutRebuild) : found
    }

    /// The checks of what tables are rebuilt from.
    private static let ofLog: Set = ["file", "positions", "verify"]

    private var checks: [(String, () throws -> [Checkup])] {
        var checks: [(String, () throws -> [Checkup])] = [
            ("format", format), ("file", file), ("references", references), ("schema", schema), ("history", history),
            ("guard", writeGuard),
            ("positions", positions), ("clock", clock), ("tail", tail), ("projections", projections),
        ]
        checks.append(isDeep ? ("verify", verify) : ("drift", drift))
        return checks + [("wal", writeAheadLog), ("disk", disk), ("leftovers", leftovers), ("writer", writer)]
    }

    /// The first cell of a query.
    func integer(_ sql: String) throws -> Int64 {
        let select = try PreparedStatement(database, sql)
        return try select.step() ? select.integer(0) : 0
    }

    func text(_ sql: String) throws -> String {
        let select = try PreparedStatement(database, sql)
        return try select.step() ? select.string(0) : ""
    }
}

// MARK: The file

extension Doctor {
    private func format() throws -> [Checkup] {
        let mode = try text("PRAGMA journal_mode")
        let format = try integer("SELECT format FROM storage_meta")
        guard mode == "wal" else {
            return [
                .warning(
                    "format", "the journal is \(mode), not a write-ahead log: another program has changed it",
                    remedy: "Open the store with its program once to correct it.")
            ]
        }
        return [.ok("format", "format \(format), write-ahead log, pages of \(try integer("PRAGMA page_size")) bytes")]
    }

    private func file() throws -> [Checkup] {
        let check = try FileCheck(database, isQuick: true, limit: 3)
        let problems = check.problems
        guard !problems.isEmpty else {
            var unchecked = check.unchecked.map {
                Checkup.warning(
                    "file",
                    "\(TargetArgument(table: $0.table)) wasn't checked: \($0.missing) isn't registered in this process",
                    remedy: "Nothing is known to be wrong. Only the program that registers it can check this table.")
            }
            if let missing = check.missingForPages {
                unchecked.append(
                    .warning(
                        "file", "its pages weren't checked as a whole: \(missing) isn't registered in this process",
                        remedy: "Nothing is known to be wrong. Only the program that registers it can check them."))
            }
            return unchecked.isEmpty ? [.ok("file", "SQLite's quick check passes")] : unchecked
        }
        let text = problems.joined(separator: "; ")
        let remedy = "Restore a backup: storagekit restore BACKUP -o NEW. What can still be read: storagekit export"
        // Values that a constraint forbids are a table's, which the log has: no page is damaged.
        let isOfRows = problems.allSatisfy { $0.contains(" value in ") || $0.hasPrefix("CHECK constraint failed in ") }
        return [isOfRows ? .failed("file", text, remedy: remedy) : .damaged("file", text, remedy: remedy)]
    }

    private func references() throws -> [Checkup] {
        let check = try ForeignKeyCheck(database)
        var found = check.broken.map { broken in
            let rows = NumberText.count(broken.rows, "row refers", plural: "rows refer")
            let table = TargetArgument(table: broken.table)
            return Checkup.failed(
                "references", "\(rows) to missing rows in \(table)",
                remedy:
                    "Which rows: storagekit sql -s \(quotedPath) \"SELECT * FROM pragma_foreign_key_check\". Who changed one: storagekit blame -s \(quotedPath) \(["\(table)/ID"].quotedAsOperands)"
            )
        }
        found += check.unresolved.map {
            .warning(
                "references", "\(TargetArgument(table: $0.table)): \($0.reason)",
                remedy:
                    "No row is damaged, but SQLite refuses changes that it can't check. Correct the schema in a migration, or register what is missing."
            )
        }
        return found.isEmpty ? [.ok("references", "every foreign key refers to a row")] : found
    }

    /// Checks for tables without history. A program that created the store with the library chose that; an adoption omits tables that it can't
    /// record.
    private func history() throws -> [Checkup] {
        let catalog = try Catalog.load(database)
        let names = try UnrecordedTables.names(in: database, catalog: catalog)
        guard !names.isEmpty else { return [] }
        let recorded = NumberText.count(catalog.live.count, "table has", plural: "tables have")
        let message = "\(recorded) a history; without one: \(Suggestions.list(names))"
        let log = try LogIndex(LogReader(database))
        let isAdopted = try log.commit(1)?.info.metadata.attributes[UndoStack.adopts] != nil
        return isAdopted
            ? [
                .warning(
                    "history", message,
                    remedy: "Their changes aren't recorded. Why: storagekit adopt \(quotedPath) --in-place --dry-run")
            ]
            : [.ok("history", message)]
    }

    /// Reports nothing if the guard is off, which is the default.
    private func writeGuard() throws -> [Checkup] {
        guard try WriteGuard.isOn(database) else { return [] }
        let catalog = try Catalog.load(database)
        let unguarded = try WriteGuard.unguarded(catalog, database).map(\.name)
        guard unguarded.isEmpty else {
            return [
                .warning(
                    "guard",
                    "other programs can write to \(Suggestions.list(unguarded)): the write guard was removed there",
                    remedy: "storagekit guard on -s \(quotedPath)", repair: .guardTables)
            ]
        }
        return [.ok("guard", "other programs can't write to \(NumberText.count(catalog.live.count, "table"))")]
    }

    private func schema() throws -> [Checkup] {
        var found: [Checkup] = []
        let known = try PreparedStatement(database, "SELECT sql FROM sqlite_schema WHERE name = ?")
        for (name, sql) in StoreLayout.objects {
            known.bind(text: name, at: 1)
            let isSame = try known.step() && known.string(0) == sql
            known.reset()
            if !isSame {
                found.append(
                    .failed(
                        "schema", "\(name) isn't what StorageKit made", remedy: "storagekit verify -s \(quotedPath)"))
            }
        }
        let catalog = try Catalog.load(database)
        let entities = catalog.live
        let definitions = try StoredDefinitions(database)
        for entity in entities {
            guard let change = try ForeignSchemaChange(of: entity, in: definitions) else { continue }
            found.append(finding(change, of: entity))
        }
        for index in try FullTextIndex.load(database) where try !index.isIntact(catalog, database) {
            let name = catalog.entity(id: index.entity)?.name ?? index.name
            found.append(
                .failed(
                    "schema",
                    "the full-text index of \(TargetArgument(table: name)) was dropped or changed by another program",
                    remedy: "storagekit doctor -s \(quotedPath) --fix", repair: .rebuild([name])))
        }
        for (name, instead) in try HistoryTableInstaller(database).hidden {
            found.append(
                .warning(
                    "schema",
                    "the store has a table or view \(name) of its own: storagekit sql shows that, and no history, under this name",
                    remedy: "The history is called \(instead) there."))
        }
        return found.isEmpty
            ? [.ok("schema", "\(NumberText.count(entities.count, "table matches", plural: "tables match")) the log")]
            : found
    }
}

extension Doctor {
    private func finding(_ change: ForeignSchemaChange, of entity: CatalogEntity) -> Checkup {
        let name = TargetArgument(table: entity.name)
        guard !change.isMissing else {
            return .failed(
                "schema", "another program has dropped or renamed the table \(name)",
                remedy: "Rename it back, or rebuild it from the log: storagekit doctor -s \(quotedPath) --fix",
                repair: .rebuild([entity.name]))
        }
        let message = "another program has changed the table \(name): \(change.differences)"
        let undo =
            "Undo that change, or make it in a migration of the store's program. To restore the table as the log has it"
        guard !change.hasAdditions else {
            return .failed(
                "schema", message,
                remedy:
                    "\(undo), without what was added: storagekit rebuild -s \(quotedPath) \([entity.name].quotedAsOperands)"
            )
        }
        return .failed(
            "schema", message,
            remedy: "\(undo), without what others have written to it: storagekit doctor -s \(quotedPath) --fix",
            repair: .rebuild([entity.name]))
    }
}

// MARK: The log

extension Doctor {
    private func positions() throws -> [Checkup] {
        if let gap = try LogCompleteness.gap(in: database) {
            return [
                .damaged(
                    "positions", "the log has a gap at @\(gap.expected): it continues at @\(gap.found)",
                    remedy: "storagekit verify -s \(quotedPath)")
            ]
        }
        try LogCompleteness.check(database)
        let head = try LogHead.load(database)
        return [
            .ok(
                "positions", head.position > 0 ? "@1..@\(head.position), \(head.commit) commits, no gap" : "nothing yet"
            )
        ]
    }

    private func clock() throws -> [Checkup] {
        let back = try PreparedStatement(
            database,
            """
            SELECT position FROM (
              SELECT position, first_time, last_time, lag(last_time, 1, first_time) OVER (ORDER BY position) AS before
              FROM storage_log)
            WHERE first_time < before OR last_time < first_time LIMIT 1
            """)
        if try back.step() {
            return [
                .failed(
                    "clock", "times go backward at @\(back.integer(0))", remedy: "storagekit verify -s \(quotedPath)")
            ]
        }
        let head = try LogHead.load(database)
        guard head.position > 0 else { return [.ok("clock", "nothing yet")] }
        let ahead = head.time - now
        // Two clocks may differ by less than a minute.
        guard ahead > 60_000_000 else {
            return [.ok("clock", "times increase, the last is \(Timestamp.shown(head.time))")]
        }
        let text = "the last commit is \(Age.text(microseconds: ahead)) in the future: \(Timestamp.shown(head.time))"
        // A user notices if this machine's clock is a year behind; if the other clock was a year ahead, the future times remain in the log.
        guard ahead > 365 * 86_400_000_000 else {
            return [
                .warning("clock", text, remedy: "Set this machine's clock. Until then new commits get that time too.")
            ]
        }
        return [
            .warning(
                "clock", text,
                remedy:
                    "If this machine's clock is right, all later commits get that time: storagekit restore \(quotedPath) --to \(Timestamp.shown(now)) -o NEW ends before it."
            )
        ]
    }

    /// Checks for full windows that wait to be sealed; every store has a partial window at its end.
    private func tail() throws -> [Checkup] {
        let select = try PreparedStatement(
            database, "SELECT count(*), coalesce(sum(last - position + 1), 0) FROM storage_log WHERE sealed = 0")
        _ = try select.step()
        let (rows, events) = (select.integer(0), select.integer(1))
        let text = "\(NumberText.count(events, "event")) unsealed in \(NumberText.count(rows, "row"))"
        guard events > 8 * Int64(Limits.segmentEvents) else { return [.ok("tail", text)] }
        return [.warning("tail", text, remedy: "storagekit doctor -s \(quotedPath) --fix", repair: .seal)]
    }

    private func verify() throws -> [Checkup] {
        var verifier = Verifier(database) { progress(Int($0), Int($1)) }
        let report = try verifier.run()
        let warnings = report.warnings.map {
            Checkup.warning("verify", "\($0)", remedy: "storagekit verify -s \(quotedPath)")
        }
        guard !report.isSound else {
            guard warnings.isEmpty else { return warnings }
            return [
                .ok(
                    "verify",
                    "\(NumberText.grouped(report.events)) events and \(NumberText.grouped(report.rows)) rows are intact"
                )
            ]
        }
        let entities = Set(try Catalog.load(database).live.map(\.name))
        // Not the catalog, by which tables are rebuilt, nor what belongs to projections of programs.
        let annotations = Set(CatalogEntity.reserved.filter { CatalogEntity.isAnnotation($0.id) }.map(\.name))
        let isDerived = try report.findings.allSatisfy { finding in
            switch finding.kind {
            case "file": try entity(withIndexOf: finding) != nil
            case "projection", "full-text":
                finding.table.map { entities.contains($0) || annotations.contains($0) } ?? false
            case "tombstone": true
            default: false
            }
        }
        // A rebuild of everything includes the store's own tables and tombstones, which can't be named.
        let names = try report.findings.map { try $0.table ?? entity(withIndexOf: $0) }
        let isOfEntities = !report.isTruncated && names.allSatisfy { $0.map(entities.contains) ?? false }
        let tables = isOfEntities ? Set(names.compactMap(\.self)).sorted() : []
        // If a rebuild would lose what was added to a table, the check of the schema says what to do first.
        let repair = try isDerived ? rebuild(tables) : nil
        let isOfLog = report.findings.contains { ["log", "event"].contains($0.kind) }
        let damage = report.findings.prefix(5).map { finding in
            if isOfLog {
                return Checkup.damaged("verify", "\(finding)", remedy: "storagekit verify -s \(quotedPath)")
            }
            return .failed(
                "verify", "\(finding)",
                remedy: repair != nil
                    ? "storagekit doctor -s \(quotedPath) --deep --fix" : "storagekit verify -s \(quotedPath)",
                repair: repair)
        }
        return damage + warnings
    }

    /// The entity with an index that doesn't fit its table, if that is what SQLite's check has found: a rebuild creates the index
    /// with the table.
    private func entity(withIndexOf finding: VerifyReport.Finding) throws -> String? {
        let phrases = ["missing from index ", "wrong # of entries in index "]
        guard finding.kind == "file", let phrase = phrases.compactMap({ finding.message.range(of: $0) }).first else {
            return nil
        }
        let select = try PreparedStatement(
            database, "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?1")
        select.bind(text: String(finding.message[phrase.upperBound...]), at: 1)
        guard try select.step() else { return nil }
        let table = select.string(0)
        return try Catalog.load(database).live.first { $0.stored == table }?.name
    }

    /// Rebuilds entities' tables, unless that would lose what another program has added to the tables themselves: a column that
    /// the log doesn't know is in no event.
    func rebuild(_ names: [String]) throws -> Checkup.Repair? {
        let entities = try Catalog.load(database).live.filter { names.isEmpty || names.contains($0.name) }
        let definitions = try StoredDefinitions(database)
        let hasAdditions = try entities.contains {
            try ForeignSchemaChange(of: $0, in: definitions)?.hasAdditions ?? false
        }
        return hasAdditions ? nil : .rebuild(names)
    }
}

// MARK: Projections

extension Doctor {
    private func projections() throws -> [Checkup] {
        let all = try ProjectionOverview.load(database)
        var found: [Checkup] = []
        for projection in all {
            let name = projection.name
            switch projection.state {
            case .failed:
                let location = projection.failedPosition.map { " at @\($0)" } ?? ""
                found.append(
                    .warning(
                        "projections", "\(name) has failed\(location): \(projection.error ?? "")",
                        remedy: "storagekit projections -s \(quotedPath) resume \(name)", repair: .resume(name)))
            case .paused:
                found.append(
                    .warning(
                        "projections", "\(name) is paused at @\(projection.position)",
                        remedy: "storagekit projections -s \(quotedPath) resume \(name)"))
            case .reset:
                found.append(
                    .warning(
                        "projections", "\(name) was reset and isn't rebuilt yet",
                        remedy: "Open the store with its program to rebuild it."))
            case .running where projection.lag > 0:
                found.append(
                    .warning(
                        "projections", "\(name) is \(NumberText.count(projection.lag, "event")) behind",
                        remedy: "Open the store with its program to catch up."))
            case .running: break
            }
            if projection.deadLetters > 0 {
                found.append(
                    .warning(
                        "projections",
                        "\(name) has \(NumberText.count(projection.deadLetters, "dead letter"))",
                        remedy: "storagekit projections -s \(quotedPath) dead-letters \(name)"))
            }
        }
        guard found.isEmpty else { return found }
        return [.ok("projections", all.isEmpty ? "none" : "\(all.count) up to date")]
    }
}

// MARK: Surroundings

extension Doctor {
    private static func size(of path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }

    private func writeAheadLog() throws -> [Checkup] {
        let losses = try end?.losses(head: LogHead.load(database).position) ?? []
        guard losses.isEmpty else {
            return losses.map {
                $0.isDamage
                    ? .failed("wal", $0.message, remedy: $0.remedy) : .warning("wal", $0.message, remedy: $0.remedy)
            }
        }
        let size = Self.size(of: path + "-wal")
        guard size > 64 << 20 else { return [.ok("wal", "\(NumberText.bytes(size)) in the write-ahead log")] }
        return [
            .warning(
                "wal", "\(NumberText.bytes(size)) in the write-ahead log: a reader prevents a checkpoint",
                remedy: "storagekit doctor -s \(quotedPath) --fix", repair: .checkpoint)
        ]
    }

    private func disk() throws -> [Checkup] {
        var system = statvfs()
        guard statvfs(path, &system) == 0 else { return [.ok("disk", "its free space isn't known")] }
        let free = Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
        let size = Self.size(of: path)
        guard free < size || free < 64 << 20 else {
            return [.ok("disk", "\(NumberText.bytes(free)) free, the store has \(NumberText.bytes(size))")]
        }
        return [
            .warning(
                "disk",
                "\(NumberText.bytes(free)) free, and the store has \(NumberText.bytes(size)): no room to rebuild or back up",
                remedy: "Make room, or back up to another disk.")
        ]
    }

    /// Reports what interrupted commands have left in the store and beside it, if there is anything.
    private func leftovers() throws -> [Checkup] { try leftoversOfRebuilds() + leftoverFiles() }

    /// New tables that an interrupted rebuild was making, or one that runs.
    private func leftoversOfRebuilds() throws -> [Checkup] {
        let leftovers = try RebuildLeftovers(database)
        let discard = "To discard it: storagekit rebuild -s \(quotedPath) --abandon"
        var found: [Checkup] = []
        if !leftovers.unfinished.isEmpty {
            found.append(
                .warning(
                    "leftovers", "a rebuild isn't finished: \(Suggestions.list(leftovers.unfinished))",
                    remedy: "The next rebuild resumes it: storagekit rebuild -s \(quotedPath). \(discard)"))
        }
        if !leftovers.projections.isEmpty {
            found.append(
                .warning(
                    "leftovers",
                    "a rebuild of projections isn't finished: \(Suggestions.list(leftovers.projections))",
                    remedy: "Their program resumes it with the next rebuild. \(discard)"))
        }
        return found
    }

    /// Files that an interrupted backup, restore or adoption has left beside the store.
    private func leftoverFiles() throws -> [Checkup] {
        let files = FilePlacement.leftovers(of: path) + FilePlacement.leftovers(of: path + ".adopting")
        guard !files.isEmpty else { return [] }
        let bytes = NumberText.bytes(files.reduce(0) { $0 + Self.size(of: $1) })
        let names = files.map { ($0 as NSString).lastPathComponent }.joined(separator: ", ")
        return [
            .warning(
                "leftovers",
                "an interrupted command has left \(NumberText.count(files.count, "file")) with \(bytes): \(names)",
                remedy: "Delete them; the next command that creates such a file does so too.")
        ]
    }

    private func writer() throws -> [Checkup] {
        let found: Int?
        do {
            found = try WriterLock.holder(of: path)
        } catch let error as StorageError {
            return [.warning("writer", "unknown: \(error.message)", remedy: error.remedy)]
        }
        guard let holder = found else { return [.ok("writer", "no process has it open for writing")] }
        guard kill(pid_t(truncatingIfNeeded: holder), 0) == 0 || errno == EPERM else {
            return [
                .warning(
                    "writer", "process \(holder) locked the store and has exited, but a child process holds the lock",
                    remedy: "Find it: fuser \(quotedPath).lock")
            ]
        }
        return [.ok("writer", "process \(holder) has it open for writing")]
    }
}
