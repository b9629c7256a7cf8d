import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit bisect`: finds the commit that changed an answer.
struct BisectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Binary-search for the commit that changed a query's result.",
        discussion: """
            The condition is a query, true if the first value of its first row is neither zero nor NULL, or a command \
            with --run, true if it exits with 0. The command gets the point in STORAGEKIT_POINT and the store in \
            STORAGEKIT_STORE, and exits with 125 to skip a point. With --database it also gets a file with the tables \
            as of that point in STORAGEKIT_DATABASE. The results at both ends of the range must differ; if the result \
            changes more than once, one of the changes is found.

              storagekit bisect -s app.sqlite "SELECT balance < 0 FROM accounts WHERE id = 42"
              storagekit bisect -s app.sqlite t:100..t:900 "SELECT count(*) > 0 FROM users WHERE email IS NULL"
              storagekit bisect -s app.sqlite -7d.. --run './check "$STORAGEKIT_POINT"'

            Exits with status 1 if the result is the same at both ends, 6 if skipped points leave several candidates.
            """)

    @Argument(help: ArgumentHelp("A range, then one SELECT.", valueName: "range-or-sql"))
    var words: [String] = []

    @OptionGroup var store: StoreOption

    @Option(help: "Run a shell command instead of a query.")
    var run: String?

    @Flag(help: "With --run: write the tables as of each point to an SQLite file.")
    var database = false

    @OptionGroup var format: FormatOptions

    func validate() throws {
        if database, run == nil { throw ValidationError("--database requires --run.") }
        let (_, sql) = try split()
        guard (sql == nil) != (run == nil) else {
            throw ValidationError("Give either a query or --run COMMAND.")
        }
    }

    private func split() throws -> (PointRange?, String?) {
        var words = words
        var range: PointRange?
        if let first = words.first, let found = try? PointRange(first, now: SystemTime.now) {
            range = found
            words.removeFirst()
        }
        guard words.count <= 1 else {
            throw ValidationError("Write the query as one word, in quotes, with the range before it.")
        }
        return (range, words.first)
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "bisect")
        let command = self
        let (range, sql) = try split()
        let path = try store.path()
        let status = try await store.read { store in
            let condition: (Int64) throws -> Bool?
            if let sql {
                condition = { try SnapshotCondition(sql: sql, store: store).holds(afterCommit: $0) }
            } else {
                let shell = ShellCondition(
                    command: command.run ?? "", store: path, snapshot: command.database ? store : nil)
                condition = { try shell.holds(afterCommit: $0) }
            }
            return try Bisection(of: store, to: ResultOutput(command.format), where: condition).run(range)
        }
        if let status { throw status }
    }
}

/// A query as a condition of the past.
private struct SnapshotCondition {
    let sql: String
    let store: HistoryReader

    func holds(afterCommit number: Int64) throws -> Bool {
        let position = try store.position(of: .commit(number))
        let snapshot = try MaterializedSnapshot(at: position, of: store.database, schema: .asRecorded)
        let tables: [String]
        do {
            tables = try ReferencedTables(of: sql, in: snapshot.catalog).names
        } catch let error as StorageError where error.message.contains("no such ") {
            // A table or column that isn't there yet: nothing can be true of it, unless the name is wrong now, too.
            _ = try ReferencedTables(of: sql, in: store.catalog)
            return false
        }
        return try snapshot.read(tables, from: store.database) { snapshot in
            let connection = try snapshot.connection
            let statement = try PreparedStatement(connection, sql)
            guard try statement.step() else { return false }
            switch statement.row.value(at: 0) {
            case .null, .integer(0): return false
            case .real(let value): return value != 0
            default: return true
            }
        }
    }
}

/// A shell command as a condition of the past.
private struct ShellCondition {
    let command: String
    let store: String
    /// Where the tables of each point come from, if they are to be made in a file.
    let snapshot: HistoryReader?

    /// - Returns: nil where the command can't tell.
    func holds(afterCommit number: Int64) throws -> Bool? {
        guard let snapshot else { return try holds(afterCommit: number, database: nil) }
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("storagekit-\(UUID().uuidString).sqlite")
        // A temporary file that stays does no harm.
        defer { try? FileManager.default.removeItem(at: file) }
        let position = try snapshot.position(of: .commit(number))
        try MaterializedSnapshot(at: position, of: snapshot.database, schema: .asRecorded).write(
            to: file.path, from: snapshot.database)
        return try holds(afterCommit: number, database: file.path)
    }

    private func holds(afterCommit number: Int64, database: String?) throws -> Bool? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        var environment = ProcessInfo.processInfo.environment
        environment[StoreOption.environmentKey] = store
        environment["STORAGEKIT_POINT"] = "t:\(number)"
        environment["STORAGEKIT_DATABASE"] = database
        process.environment = environment
        // What the command says is for people; the answer of this tool stays clean.
        process.standardOutput = FileHandle.standardError
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit else {
            throw CommandError(
                .inconclusive, "The command was ended by signal \(process.terminationStatus) at t:\(number).",
                next: "Run it there by itself: STORAGEKIT_POINT=t:\(number) \(command)")
        }
        // What the shell ends with where it finds no command, or one that can't be run.
        guard ![126, 127].contains(process.terminationStatus) else {
            throw CommandError(
                .inconclusive,
                "The command can't be run: the shell ended with \(process.terminationStatus) at t:\(number).",
                next: "Name an executable program; exit with 125 to skip a point.")
        }
        return process.terminationStatus == 125 ? nil : process.terminationStatus == 0
    }
}

private final class Bisection {
    private let store: HistoryReader
    private let output: ResultOutput
    private let condition: (Int64) throws -> Bool?
    private var steps = 0

    init(of store: HistoryReader, to output: ResultOutput, where condition: @escaping (Int64) throws -> Bool?) {
        self.store = store
        self.output = output
        self.condition = condition
    }

    func run(_ range: PointRange?) throws -> ExitStatus? {
        var low = try commit(range?.after, orElse: 0)
        var high = try commit(range?.through, orElse: store.head.commit)
        guard store.head.commit > 0 else {
            throw CommandError(
                .negative, "The store is empty: there is no commit to find.",
                next: "Import a history first: storagekit import FILE")
        }
        guard low < high else {
            throw CommandError(
                .usage, "There is no commit between t:\(low) and t:\(high).", next: "Write the older point first.")
        }
        guard let before = try answer(low), let after = try answer(high) else {
            throw CommandError(
                .inconclusive, "The command skipped an end of the range (status 125).",
                next: "Choose end points that it doesn't skip: storagekit bisect A..B …")
        }
        guard before != after else {
            throw CommandError(
                .negative, "The condition is \(before) at both t:\(low) and t:\(high).",
                next: "Choose a range at whose ends it differs.")
        }
        let bar = ProgressBar("bisect", total: nil, unit: "steps")
        defer { bar.finish() }
        while high - low > 1 {
            guard let (middle, found) = try judge(between: low, and: high) else {
                throw CommandError(
                    .inconclusive,
                    "One of t:\(low + 1) to t:\(high) changes the result; the points between were skipped.",
                    next: "See what they did: storagekit log t:\(low)..t:\(high) -p")
            }
            bar.update(steps)
            if found == before { low = middle } else { high = middle }
        }
        bar.finish()
        try write(high, before: before)
        return nil
    }

    private func commit(_ point: PointArgument?, orElse usual: Int64) throws -> Int64 {
        guard let point else { return usual }
        let position = try store.position(of: point)
        return position == 0 ? 0 : try store.index.commit(at: position)?.info.number ?? 0
    }

    private func answer(_ commit: Int64) throws -> Bool? {
        steps += 1
        return try condition(commit)
    }

    /// The answer in the middle, or as near to it as one can be had.
    private func judge(between low: Int64, and high: Int64) throws -> (Int64, Bool)? {
        let middle = low + (high - low) / 2
        for distance in 0..<(high - low) {
            for candidate in Set([middle + distance, middle - distance]) where low < candidate && candidate < high {
                if let found = try answer(candidate) { return (candidate, found) }
            }
        }
        return nil
    }

    private func write(_ number: Int64, before: Bool) throws {
        guard let commit = try store.index.commit(number) else { return }
        let entry = try AnnotatedCommit(store.summary(of: commit), store.tags)
        var lines: [StyledLine] = []
        if output.format == .human {
            try store.forEachEvent(of: commit) { batch, index in
                let event = batch.event(at: index, catalog: store.catalog, commit: commit.info)
                lines.append(event.changeLine(indent: 4, showsPosition: true))
                lines += event.columnLines(indent: 6)
                return lines.count < 40
            }
        }
        if output.format == .human {
            try output.line(entry.headline)
            try output.line("    \(before) before, \(!before) since, found in \(steps) steps", .dim)
            for line in lines { try output.line(line) }
        } else {
            try output.document(BisectRecord(commit: entry, before: before, steps: steps))
        }
        try output.flush()
    }
}
