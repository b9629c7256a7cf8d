import ArgumentParser
import Foundation
import GRDB
import StorageKit

/// `storagekit bisect`: finds the commit that changed an answer.
struct BisectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Binary-search for the commit that changed a query's result.",
        discussion: """
            The condition is a query, true if the first value of its first row isn't zero, or a command \
            with --run, true if it exits with 0. Where the query has no row, a NULL, or a table that doesn't exist yet, \
            the condition can't be judged: the point is skipped, or isn't true yet. The command gets the point in STORAGEKIT_POINT and the store in \
            STORAGEKIT_STORE, and exits with 125 to skip a point. With --database it also gets a file with the tables \
            as of that point in STORAGEKIT_DATABASE. The results at both ends of the range must differ; without a \
            range, it is searched where they do. If the result changes more than once, one of the changes is found.

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
        if let word = words.first, ["start", "good", "bad", "new", "old", "reset"].contains(word.lowercased()) {
            throw ValidationError(
                "bisect has no steps: it takes a query.\nFor example: storagekit bisect \"SELECT total < 0 FROM orders WHERE id = 7\""
            )
        }
        return (range, words.first)
    }

    func run() async throws {
        try format.require([.human, .json, .jsonl], of: "bisect")
        let command = self
        let (range, sql) = try split()
        let path = try store.path()
        let status = try await UnfinishedFiles.removedBySignals {
            try await store.read { store in
                let condition: (Int64) throws -> Bool?
                sql.flatMap { ComparisonHint.find(in: $0, store.catalog) }?.write()
                if let sql {
                    condition = { try SnapshotCondition(sql: sql, store: store).holds(afterCommit: $0) }
                } else {
                    let shell = ShellCondition(
                        command: command.run ?? "", store: path, snapshot: command.database ? store : nil)
                    condition = { try shell.holds(afterCommit: $0) }
                }
                return try Bisection(of: store, to: ResultOutput(command.format), isQuery: sql != nil, where: condition)
                    .run(range)
            }
        }
        if let status { throw status }
    }
}

/// A query as a condition on past states.
private struct SnapshotCondition {
    let sql: String
    let store: HistoryReader

    /// - Returns: nil if the query has no answer: a table doesn't exist yet, there is no row, or the value is NULL.
    func holds(afterCommit number: Int64) throws -> Bool? {
        let position = try store.position(of: .commit(number))
        let snapshot = try MaterializedSnapshot(at: position, of: store.database, schema: .asRecorded)
        let tables: [String]
        do {
            tables = try ReferencedTables(of: sql, in: snapshot.catalog).names
        } catch let error as StorageError where error.message.contains("no such ") {
            // The table or column doesn't exist yet, unless the name is wrong today, too.
            _ = try ReferencedTables(of: sql, in: store.catalog)
            return nil
        }
        return try snapshot.read(tables, from: store.database) { snapshot in
            let connection = try snapshot.connection
            let statement = try PreparedStatement(connection, sql)
            guard try statement.step() else { return nil }
            switch statement.row.value(at: 0) {
            case .null: return nil
            case .integer(0): return false
            case .real(let value): return value != 0
            default: return true
            }
        }
    }
}

/// A shell command as a condition on past states.
private struct ShellCondition {
    let command: String
    let store: String
    /// The source of each point's tables, if they are to be written to a file.
    let snapshot: HistoryReader?

    /// - Returns: nil if the command can't decide.
    func holds(afterCommit number: Int64) throws -> Bool? {
        guard let snapshot else { return try holds(afterCommit: number, database: nil) }
        let folder = try PrivateFolder()
        defer { folder.discard() }
        let file = folder.path(of: "state.sqlite")
        let position = try snapshot.position(of: .commit(number))
        try MaterializedSnapshot(at: position, of: snapshot.database, schema: .asRecorded).write(
            to: file, from: snapshot.database)
        return try holds(afterCommit: number, database: file)
    }

    private func holds(afterCommit number: Int64, database: String?) throws -> Bool? {
        var environment = ProcessInfo.processInfo.environment
        environment[StoreOption.environmentKey] = store
        environment["STORAGEKIT_POINT"] = "t:\(number)"
        environment["STORAGEKIT_DATABASE"] = database
        // The command's output is for people, so it doesn't mix with this tool's results.
        switch try ShellCommand.run(command, environment: environment) {
        // An interrupt at the terminal is for both.
        case .signal(SIGINT): UnfinishedFiles.end(by: SIGINT)
        case .signal(let signal):
            throw CommandError(
                .inconclusive, "The command was ended by signal \(signal) at t:\(number).",
                next: "Run it there by itself: STORAGEKIT_POINT=t:\(number) \(command)")
        // The shell's statuses for a command that isn't found or can't be run.
        case .exit(let status) where [126, 127].contains(status):
            throw CommandError(
                .inconclusive, "The command can't be run: the shell ended with \(status) at t:\(number).",
                next: "Name an executable program; exit with 125 to skip a point.")
        case .exit(let status): return status == 125 ? nil : status == 0
        }
    }
}

private final class Bisection {
    private let store: HistoryReader
    private let output: ResultOutput
    private let condition: (Int64) throws -> Bool?
    /// Whether the condition is a query, and not a command, which skips points that it can't judge.
    private let isQuery: Bool
    private var steps = 0

    init(
        of store: HistoryReader, to output: ResultOutput, isQuery: Bool,
        where condition: @escaping (Int64) throws -> Bool?
    ) {
        self.store = store
        self.isQuery = isQuery
        self.output = output
        self.condition = condition
    }

    func run(_ range: PointRange?) throws -> ExitStatus? {
        var low = try commit(range?.after, orElse: 0)
        var high = try commit(range?.through, orElse: newestCommit())
        guard store.head.commit > 0 else {
            throw CommandError(
                .negative, "The store is empty: there is no commit to find.",
                next: "Import a history first: storagekit import FILE")
        }
        guard low < high else {
            throw CommandError(
                .usage, "There is no commit between t:\(low) and t:\(high).", next: "Write the older point first.")
        }
        guard let after = try answer(high) else { throw unjudged(high) }
        let before = try firstAnswer(&low, before: high, after: after)
        if before == after {
            let found = try lastDifference(before: high, from: low, unlike: after)
            // A requested range isn't narrowed silently.
            guard let found, range?.after == nil else { throw same(after, low, high, differsAt: found) }
            low = found
        }
        let isFalseUntilTrue = after
        let bar = ProgressBar("bisect", total: nil, unit: "steps")
        defer { bar.finish() }
        while high - low > 1 {
            guard let (middle, found) = try judge(between: low, and: high, isFalseUntilTrue) else {
                throw CommandError(
                    .inconclusive,
                    "One of t:\(low + 1) to t:\(high) changes the result; the points between were skipped.",
                    next: "See what they did: storagekit log t:\(low)..t:\(high) -p")
            }
            bar.update(steps)
            if found != after { low = middle } else { high = middle }
        }
        bar.finish()
        try write(high, before: !after)
        return nil
    }

    /// The newest commit that changes rows: later records of the store's own operations don't change any answer.
    private func newestCommit() throws -> Int64 {
        store.head.commit == 0 ? 0 : try store.commit(of: .head).info.number
    }

    private func commit(_ point: PointArgument?, orElse usual: Int64) throws -> Int64 {
        guard let point else { return usual }
        let position = try store.position(of: point)
        return position == 0 ? 0 : try store.index.commit(at: position)?.info.number ?? 0
    }

    /// The answer at the older end of the range. If a query has none there, for example before its table existed, it counts as false if the condition
    /// is true at the newer end; otherwise the range is narrowed to begin at the first answer.
    private func firstAnswer(_ low: inout Int64, before high: Int64, after: Bool) throws -> Bool {
        if let before = try answer(low) { return before }
        guard isQuery else { throw unjudged(low) }
        guard !after else { return false }
        // A query that has an answer once mostly keeps one, so the first one is found by binary search.
        var (without, with, before) = (low, high, after)
        while with - without > 1 {
            let middle = without + (with - without) / 2
            if let holds = try answer(middle) { (with, before) = (middle, holds) } else { without = middle }
        }
        low = with
        return before
    }

    /// The nearest point before the end, at doubling distances, at which the result differs from that at the end; nil if there is none.
    private func lastDifference(before high: Int64, from low: Int64, unlike holds: Bool) throws -> Int64? {
        var distance: Int64 = 1
        while high - distance > low {
            if try answer(high - distance) == !holds { return high - distance }
            distance *= 2
        }
        return nil
    }

    private func unjudged(_ commit: Int64) -> CommandError {
        CommandError(
            .inconclusive,
            isQuery
                ? "The condition can't be judged at t:\(commit): the query has no row or a NULL there."
                : "The command skipped an end of the range (status 125).",
            next: isQuery
                ? "Choose a point where it has a value, or decide: SELECT ifnull((…), 0). storagekit bisect A..B …"
                : "Choose end points that it doesn't skip: storagekit bisect A..B …")
    }

    private func same(_ holds: Bool, _ low: Int64, _ high: Int64, differsAt other: Int64?) -> CommandError {
        CommandError(
            .negative, "The condition is \(holds) at both t:\(low) and t:\(high).",
            why: other.map { "It is \(!holds) at t:\($0) between them." } ?? "",
            next: other.map { "Look from there: storagekit bisect t:\($0)..t:\(high) …" }
                ?? "Choose a range at whose ends it differs.")
    }

    private func answer(_ commit: Int64) throws -> Bool? {
        steps += 1
        return try condition(commit)
    }

    /// The answer in the middle, or at the nearest point that has one.
    ///
    /// - Parameter isFalseUntilTrue: Whether a query without an answer counts as false.
    private func judge(
        between low: Int64, and high: Int64, _ isFalseUntilTrue: Bool
    ) throws -> (Int64, Bool)? {
        let middle = low + (high - low) / 2
        for distance in 0..<(high - low) {
            for candidate in Set([middle + distance, middle - distance]) where low < candidate && candidate < high {
                if let found = try answer(candidate) ?? (isQuery && isFalseUntilTrue ? false : nil) {
                    return (candidate, found)
                }
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
